// Package held runs a command while a permit is held. `gkctl run` holds one permit for its command; `gkctl work` holds
// one for each task.
//
// None of the command's processes outlives the permit's local deadline. Find checks whether a command can be executed,
// Start starts it, Wait makes sure that it stops before the deadline, and End returns when none of its processes are
// left. The system calls are in package child.
package held
