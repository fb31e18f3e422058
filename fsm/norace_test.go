//go:build !race

package fsm_test

// raceEnabled reports whether the race detector is enabled; its overhead would distort memory measurements.
const raceEnabled = false
