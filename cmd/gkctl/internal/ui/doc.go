// Package ui is what a command and the person before it share: streams and terminals, the formats of -o, arguments and times as they are typed, questions,
// errors and exit codes. It asks no server.
package ui
