// Package semaphore holds the rules of Gatekeeper: what a definition is, what a permit is, and who gets one when.
//
// It is pure: standard library only, no clock, no I/O, no randomness. Everything that a decision looks at is handed in
// as Facts, so that the leader, the state machine and explain decide by the same code.
//
// # The decision
//
// A decision is nine steps in a fixed order, and the first that can answer does: is there such a semaphore, does the
// group match, does the acquirer match, is neither cordoned nor stopping, what does the caller hold already, is it not
// paused and can the weight ever fit, is the firing still to be had, is there room; else there is none. The steps stand
// once, in step.decide. Decide walks all of them, Admit the first five for a holder that wants to keep its permit, and
// Explain shows each to a person; so an answer, a refresh and an explanation cannot disagree.
//
// The order is the meaning. What shuts a caller out comes before what it holds, so that an edit, a cordon or a pause
// with stop reaches a holder at its next refresh. What it holds comes before pauses and room, so that a plain pause and
// fewer permits take nothing from anybody. Firings come before room, so that who lost a race learns who won and not
// that it is crowded.
//
// A denial frees nothing and a stop cause frees nothing: a slot is taken until a release, an expiry, the end of cooling
// or an operator's word. These rules decide who may have a slot, never that somebody no longer has one.
//
// A drain softens a stop and nothing else. It belongs to the change that shuts holders out, not to the permits: those
// granted before that change may be refreshed until it is over, and none that was granted after it. Every cause that
// shuts a holder out must drain for it. A drain never grants, and who asks again is answered as if there were none.
//
// # Twice
//
// A request that would be granted is decided twice: by the leader when it is asked, with all the facts, and by every
// state machine when the command is applied. The second time patterns are not matched (servers may differ in Go
// version, and their regexp packages with it), the queue is not consulted and no clock is read: Admission is that of
// Admitted, and OwnOverheld and WaitsAhead are false. For the same reason Validate and CompilePattern are the leader's,
// before it proposes; nothing here that runs when a command is applied depends on the regexp package.
//
// # Patterns
//
// Patterns are RE2 and match whole names. They are compiled by themselves before they are wrapped, so that none can
// close the group that anchors it, and bounded in size, so that matching is bounded in time. What people miss from
// other engines is refused with the reason.
//
// # Compatibility
//
// None: this package is importable so that its rules can be read and tested, and may change in any version. Use package
// client.
package semaphore
