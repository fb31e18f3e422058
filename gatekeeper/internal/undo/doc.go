// Package undo plans how to take changes back.
//
// It reads one immutable state and changes nothing: no leadership, no clock, no lock. A plan carries the versions that
// it was made from. If one of them has changed by the time the plan is carried out, the state machine refuses the whole
// plan.
package undo
