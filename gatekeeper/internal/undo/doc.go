// Package undo plans how to undo changes.
//
// It reads a single immutable state and changes nothing, so it needs no leadership, clock or lock. A plan includes the
// versions it is based on. If any of them has changed by the time the plan is carried out, the state machine refuses
// the whole plan.
package undo
