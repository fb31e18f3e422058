// Package root builds the command line from the commands of the other packages. It has help, completion, version, and
// the errors for wrong flags.
package root
