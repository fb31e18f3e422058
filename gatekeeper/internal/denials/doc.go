// Package denials records which callers were denied a permit for a reason that waiting does not resolve, so that an
// operator who wants to know why a job did not run can find the cause without knowing which host tried to run it.
//
// Only the leader records denials: they are not replicated, no decision depends on them, and a new leader starts
// without any. Their number is bounded: the last denials are kept for maxSemaphores semaphores, and for each semaphore
// those of maxPerBucket callers. Denials of undefined names are kept separately, by caller. A program that keeps
// requesting new names evicts only its own denials, and callers of undefined names never evict a caller of a defined
// one.
package denials
