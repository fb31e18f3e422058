package client

import "crypto/rand"

// NewRequestID returns a new id for one acquisition or edit, to be used in all its retries.
func NewRequestID() string { return rand.Text() }
