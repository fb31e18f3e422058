// Package lookup finds the definitions that a command line names. Of a name that is of no definition it says which one was likely meant, and who asks
// for it in vain.
package lookup
