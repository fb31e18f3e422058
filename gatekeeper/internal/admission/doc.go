// Package admission decides which calls a server accepts. Under overload, a server refuses calls early instead of
// becoming too slow to answer anyone.
//
// # What is limited
//
// A server slows down for everyone when it handles too many calls at once. Each call is a goroutine that needs CPU
// time, and the refresh of a live permit queues behind every runnable goroutine. The package therefore counts calls in
// progress. Beyond a limit, calls are refused before any work is done, with an error that says when to retry. A refused
// call does not wait here: its client learns early that it should go elsewhere or wait, and memory use does not grow
// with demand.
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
// call that would wait in a queue also waits for its turn here instead of being refused: if ten thousand of them arrive
// at once, they are started in turn.
//
// # Shares
//
// A single connection or identity may use only a share of each limit: two thirds of the open calls, and a quarter of
// the calls in progress. A runaway client is refused while other clients are served. Calls waiting for a turn need it
// only briefly and get it in order of arrival, regardless of their connection or identity. A connection from another
// member has no such share, because it carries the calls of all clients of that member, which were counted there. A
// member declares itself as such, so shares protect against mistakes, not against malice. An identity's share covers
// all connections, including those of members.
package admission
