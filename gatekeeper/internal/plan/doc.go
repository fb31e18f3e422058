// Package plan says what a change would do before it is made, and which changes make a move or an undoing.
//
// Everything here reads one immutable state and changes nothing: no leadership, no clock, no lock. What is planned carries
// the versions that it was planned from, so that a plan which has been overtaken is refused when it is carried out, and
// nothing of it is done.
//
// What is known of who asks are the sightings: the groups and acquirers that were seen asking, replicated coarsely. Where
// nothing was seen, nothing is known: then a plan says so, and warns of nothing else.
package plan
