// Package semaphore holds the rules of Gatekeeper: what a definition is, what a permit is, and who gets one when.
//
// It is pure: standard library only, no clock, no I/O, no randomness. Everything that a decision looks at is handed in as
// Facts, so that the leader, the state machine and explain decide by the same code.
package semaphore
