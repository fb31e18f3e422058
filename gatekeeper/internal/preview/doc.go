// Package preview computes what a change would do before it is made. It also plans moves and plans which firings to
// forget. Package undo plans undos.
//
// All functions read one immutable state and change nothing. They need no leadership, clocks or locks. A plan carries
// the versions on which it is based. If one of them has changed by the time the plan is carried out, the whole plan is
// refused.
//
// Callers are known from their sightings: the groups and acquirers that have asked for permits, replicated with coarse
// timestamps. If no caller has been seen, a preview says so and gives no other warning about callers.
package preview
