// Package admission decides which calls a server takes on, so that more of them than it can do ends in early refusals
// and not in a server that answers nobody.
//
// # What is bounded
//
// What makes a server slow for everybody is the number of calls that it works on at once: each is a goroutine that
// wants a processor, and the refresh of a live permit stands in line behind all that are runnable. So calls in work are
// counted, and beyond a limit they are refused before anything is done, with an error that says when to come again.
// Nobody who is refused waits here: a caller that hears so early can go elsewhere or wait, and memory does not grow
// with what is asked for.
//
// A call that waits in a queue, a watcher, and a call whose message has not come yet need memory and no processor. They
// are open and not in work, and there may be many more of them: ten thousand waiters of one client are nothing unusual.
//
// # Kinds
//
// Each kind of call has its own limits, for open calls and for calls in work, so that a flood of one kind leaves the
// others alone. What keeps or ends a live permit is never refused and not counted. What an operator does to end an
// overload does not stand behind what causes it. What reads much is allowed few at a time. A batch counts once as a
// batch, whose messages are large, and its requests count as if each had come alone. A call that would wait in a queue
// waits for its turn here too, instead of being refused: ten thousand of them that come at once are started one after
// the other.
//
// # Parts
//
// One connection, and one identity, may take a part of each limit only: two thirds of what may be open, a quarter of
// what may be in work. A client that has run away is refused while others are served. Calls that wait for a turn take
// one for a moment, and in the order in which they came: whose they are does not matter. A connection of another member
// has no such part, because it carries the calls of all of that member's clients, who were counted there; it says so
// itself, so that the parts protect from mistakes, not from malice. Identities are counted wherever their calls come
// from.
package admission
