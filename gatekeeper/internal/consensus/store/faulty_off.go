//go:build !faulty

package store

// withFaults runs a store call. See faulty_on.go.
func withFaults(_ string, f func() error) error { return f() }
