// Package edit implements the commands that change definitions (gkctl apply, set, edit, delete and undo), and those
// that only preview such a change (preview and diff).
//
// Each of these commands makes a plan, which is a list of steps: definitions before and after the change. carryOut
// previews the plan, asks for confirmation, sends the plan as one batch, and prints the result.
package edit
