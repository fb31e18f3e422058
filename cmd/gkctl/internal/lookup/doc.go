// Package lookup finds the definitions named on a command line. For a name without a definition, it suggests the most
// similar name and lists the callers that are denied because the definition is missing.
package lookup
