//go:build race

package fsm_test

// raced says that the race detector runs, whose own memory would be measured with ours.
const raced = true
