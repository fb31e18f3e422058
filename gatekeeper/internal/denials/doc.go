// Package denials records which callers were denied a permit for a reason that waiting will not fix, so that an
// operator who wants to know why a job did not run can find the cause without knowing which host tried to run it.
//
// Only the leader records denials: they are not replicated, no decision depends on them, and a new leader starts
// without any. The package keeps recent denials for at most maxSemaphores semaphores, and for at most maxPerBucket
// callers of each. Denials for undefined names are kept separately, by caller. A program that keeps requesting new
// names evicts only its own denials, and denials for undefined names never evict denials for defined ones.
package denials
