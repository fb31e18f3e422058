// Package firings has the commands that show and repair the firings that semaphores remember.
package firings
