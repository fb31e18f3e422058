//go:build !faulty

package store

// disturbed runs a store call. See faulty_on.go.
func disturbed(_ string, f func() error) error { return f() }
