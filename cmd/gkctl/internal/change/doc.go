// Package change contains what the commands that change something share: flags, the display of effects, confirmation,
// and changes made in two calls, the second of which makes exactly the change that the first one returned.
package change
