// Package firings implements the commands that show and repair the firings that a semaphore remembers.
package firings
