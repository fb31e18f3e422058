// Package change contains the code that the commands for changes share: flags, the display of effects, confirmation,
// and changes made in two calls. The first call returns a plan, and the second call carries out exactly that plan.
package change
