// Package fsm is the replicated state machine: entries of the log in, results out.
package fsm
