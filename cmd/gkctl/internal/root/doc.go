// Package root is the command line as a whole: it puts the commands together, and has help, completion, version and what is said of a wrong flag.
package root
