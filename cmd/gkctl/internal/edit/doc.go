// Package edit implements the commands that change definitions (gkctl apply, set, edit, delete and undo), and those
// that only show such a change (preview and diff).
//
// Each of these commands makes a plan, which consists of steps: a definition before and after. carryOut previews the
// plan, asks for confirmation, sends the plan as one batch, and prints the result.
package edit
