// Package change has what the changing commands share: flags, the display of effects, confirmation, and changes in two
// calls, the second of which makes exactly what the first one showed.
package change
