// Package ui handles a command's interaction with its user: streams and terminals, output formats, parsing of arguments
// and times, confirmation, errors and exit codes. It does not contact servers.
package ui
