// Package ui is the interface between a command and the person who runs it: streams and terminals, the formats of -o,
// parsing of arguments and times, confirmation, errors and exit codes. It does not contact servers.
package ui
