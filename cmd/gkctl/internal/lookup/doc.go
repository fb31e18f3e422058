// Package lookup finds the definitions that a command line names. For a name without a definition it suggests the
// nearest one, and lists the callers that are denied because of it.
package lookup
