// Package ui is the interface between a command and its user: streams and terminals, the formats of -o, parsing of
// arguments and times, confirmation, errors and exit codes. It does not contact servers.
package ui
