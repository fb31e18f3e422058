// Package undo plans how to undo changes.
//
// It reads one immutable state and changes nothing. It needs no leadership, no clock and no lock. A plan carries the
// versions on which it is based. If one of them has changed when the plan is carried out, the state machine refuses the
// whole plan.
package undo
