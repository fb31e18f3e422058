// Package edit has the commands that change definitions: apply, set, edit, delete, undo, and preview and diff, which
// show such a change.
//
// Each makes a plan of steps, a definition before and after. carryOut previews it, asks, sends it as one batch, and
// prints what was done.
package edit
