// Package admission decides which calls a server accepts. Under overload, a server refuses calls early instead of
// becoming too slow for everyone.
//
// # What is limited
//
// A server slows down when it handles too many calls at once. Each call is a goroutine that needs CPU time, and
// refreshing a live permit has to wait for every runnable goroutine. This package counts calls in progress. Beyond a
// limit, calls are refused before any work is done, with an error that says when to retry. A refused call does not wait
// here: its client learns early that it should try another server or wait, and memory use does not grow with demand.
//
// A call waiting in a queue, a watcher, and a call whose message has not arrived yet need memory but no CPU time. They
// are open but not in progress, and there may be many more of them: ten thousand waiters from one client is normal.
//
// # Kinds
//
// Each kind of call has separate limits, for open calls and for calls in progress, so that a flood of one kind does not
// affect the others. Calls that refresh or end a live permit are never refused and are not counted. An operator's calls
// to end an overload do not queue behind the calls causing it. Only a few read-heavy calls may run concurrently. A
// batch counts once as a batch, because its messages are large, and each of its requests counts like a separate call. A
// call that may wait in a semaphore's queue first waits for its turn here instead of being refused: if ten thousand
// arrive at the same time, they are started in arrival order.
//
// # Shares
//
// A single connection or identity may use only a share of each limit: two thirds of the open calls, and a quarter of
// the calls in progress. A runaway client is refused while other clients are served. Waiting calls are in progress only
// briefly and start in arrival order, regardless of their connection or identity. A connection from another member is
// exempt, because it carries calls from all of that member's clients, which were already counted there. Whether the
// other side really is a member is not verified here, so shares protect against mistakes, not against malice. An
// identity's share covers all connections, including connections from members.
package admission
