// Package change contains the code shared by the commands that make changes: flags, the display of effects,
// confirmation, and changes made in two calls. The first call returns a plan, and the second carries out exactly that
// plan.
package change
