//go:build race

package fsm_test

// raced reports whether the race detector is enabled; its overhead would distort memory measurements.
const raced = true
