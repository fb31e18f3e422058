// Package firings implements the commands that show and repair the firings remembered by a semaphore.
package firings
