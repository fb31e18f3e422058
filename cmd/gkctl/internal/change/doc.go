// Package change is what commands that change something share: their flags, the effect as it is shown, the question before it, and the change in two calls,
// of which the second makes what the first has shown.
package change
