// Package firings has the commands that show and repair what semaphores remember of firings.
package firings
