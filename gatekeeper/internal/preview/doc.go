// Package preview computes what a change would do before it is made, and plans moves and firing deletions. Package undo
// plans undos.
//
// Everything here reads one immutable state and changes nothing: no leadership, no clock, no lock. A plan carries the
// versions on which it is based. If one of them has changed by the time the plan is carried out, the whole plan is
// refused.
//
// Callers are known from their sightings: the groups and acquirers that were seen asking, replicated coarsely. If no
// caller has been seen, a preview says so and gives no other warning about callers.
package preview
