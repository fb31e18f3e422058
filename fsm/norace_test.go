//go:build !race

package fsm_test

// raced reports whether the race detector is enabled; its overhead would skew memory measurements.
const raced = false
