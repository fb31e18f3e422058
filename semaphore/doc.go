// Package semaphore implements the rules of Gatekeeper: semaphore definitions, permits, and the decision on each
// request.
//
// The package is pure: it uses only the standard library, and no clock, I/O or randomness. The caller passes
// everything that a decision depends on as Facts, so the leader, the state machine and explain all run the same code.
//
// # The decision
//
// A request passes through up to nine steps in a fixed order, until one of them reaches a decision:
//
//  1. The semaphore exists.
//  2. The group matches.
//  3. The acquirer matches.
//  4. Neither a cordon nor a pause with stop excludes the caller.
//  5. The caller does not already hold a permit.
//  6. The semaphore is not paused, and the weight does not exceed its permits.
//  7. The firing can still be claimed, or a task is waiting for the worker.
//  8. There is room: the request is granted.
//  9. There is no room: the request is denied.
//
// The steps are implemented once, in step.decide. Decide runs all of them, Admit runs the first five for a holder that
// wants to keep its permit, and Explain describes each step to a user. Decisions, refreshes and explanations therefore
// cannot disagree.
//
// The order matters. The checks that exclude a caller come before the check of its permit, so that an edit, a cordon or
// a pause with stop reaches a holder at its next refresh. The caller's own permit comes before pauses and room, so that
// a plain pause or a lower permit count does not take permits away from holders. Firings come before room, so that a
// caller that lost a race learns which caller won, rather than that the semaphore is full.
//
// A denial or a stop cause never frees a slot. The slot remains taken until a release, an expiry, the end of its
// cooling period or an operator's command. These rules decide only which caller may get a slot. They never decide that
// a holder has lost one.
//
// A drain delays a stop and does nothing else. It belongs to the change that excludes holders, not to the permits.
// Permits granted before that change may be refreshed until the drain ends; permits granted after it may not. If
// several causes exclude a holder, it may continue only while each of them has a drain that covers its permit. A drain
// never grants anything: a new request is decided as if there were no drain.
//
// # Two decisions per grant
//
// A request that would be granted is decided twice: by the leader when the request arrives, with all the facts, and by
// every state machine when the command is applied. The second decision does not match patterns, because servers may run
// different Go versions and therefore different regexp packages. It also does not consult the queue or read a clock:
// Admission is then Admitted(), and OwnOverheld and WaitsAhead are false. For the same reason, only the leader calls
// Validate and CompilePattern, before it proposes a command. No code here that runs when a command is applied depends
// on the regexp package.
//
// # Patterns
//
// Patterns are RE2 and match whole names. Each pattern is first compiled alone and then wrapped in an anchored group,
// so that it cannot close that group. Its size is bounded, which bounds the matching time. A pattern that uses a
// feature that only other engines support is rejected, and the error states the reason.
//
// # Compatibility
//
// There is no compatibility promise. This package is importable so that its rules can be read and tested, and it may
// change in any version. Use package client.
package semaphore
