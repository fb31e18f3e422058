// Package lookup finds the definitions that a command line names. For a name without a definition it says which one was likely meant, and
// which callers are denied because of it.
package lookup
