// Package held runs a command for as long as a permit is held: for `gkctl run`, whose permit the command has, and for `gkctl work`, whose tasks
// have one each.
//
// No process of the command does anything after the local deadline of its permit. Find says beforehand whether a command can be executed, Start
// starts it, Wait sees to it that it stops in time, and End returns when nothing of it is left. Package child has the means of the system.
package held
