// Package denials remembers who was denied a permit for a reason that waiting does not cure, so that an operator who
// asks why a job did not run finds the cause without knowing which host asked.
//
// The memory is the leader's: it is not replicated, nothing is decided by it, and a new leader begins with none. It is
// bounded: it keeps the last denials of maxSemaphores semaphores, and of each semaphore those of maxPerShelf callers.
// Names without a definition are kept apart, by the caller. A program that asks for ever new names pushes out its own
// names only, and callers of names that do not exist push out nobody who asks for a name that does.
package denials
