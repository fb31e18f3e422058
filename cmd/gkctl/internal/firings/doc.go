// Package firings implements the commands that show and repair a semaphore's record of firings.
package firings
