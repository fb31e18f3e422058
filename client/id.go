package client

import "crypto/rand"

// NewRequestID returns a new id for an acquisition or an edit. Use the same id for all retries of that request.
func NewRequestID() string { return rand.Text() }
