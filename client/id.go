package client

import "crypto/rand"

// NewRequestID returns a new id for an acquisition or an edit. Use the same id in all its retries.
func NewRequestID() string { return rand.Text() }
