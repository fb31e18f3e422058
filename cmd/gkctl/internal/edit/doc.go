// Package edit implements the commands that change definitions (gkctl apply, set, edit, delete and undo), and the
// commands that only preview changes (preview and diff).
//
// All of them except undo make a plan: a list of steps, each with a definition before and after the change. To make the
// change, carryOut previews the plan, asks for confirmation, sends the plan as one batch, and prints the result. For an
// undo, the servers make the plan; see change.PlannedChange.
package edit
