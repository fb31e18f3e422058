package work

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// MaxSpan is the longest timeout and retention of a job.
const MaxSpan = 366 * 24 * time.Hour

// Validate returns a *semaphore.FieldError for the first invalid field.
func (s *Spec) Validate() error {
	if s == nil {
		return &semaphore.FieldError{Field: "job", Rule: "is required"}
	}
	if err := cmp.Or(semaphore.ValidName("id", s.ID), semaphore.ValidName("semaphore", s.Semaphore)); err != nil {
		return err
	}
	for _, span := range [...]struct {
		field string
		d     time.Duration
	}{{"timeout", s.Timeout}, {"retention", s.Retention}} {
		if span.d < 0 || span.d > MaxSpan {
			return &semaphore.FieldError{Field: span.field, Value: span.d.String(), Rule: fmt.Sprintf("must be between 0 and %v", MaxSpan)}
		}
	}
	if s.MaxAttempts > MaxAttempts {
		return &semaphore.FieldError{Field: "max_attempts", Value: fmt.Sprint(s.MaxAttempts), Rule: fmt.Sprintf("must be at most %d", MaxAttempts)}
	}
	if len(s.Labels) > semaphore.MaxLabels {
		return &semaphore.FieldError{Field: "labels", Value: fmt.Sprint(len(s.Labels)), Rule: fmt.Sprintf("must be at most %d", semaphore.MaxLabels)}
	}
	if i := slices.IndexFunc(s.Labels, func(l semaphore.Label) bool {
		return len(l.Key) > semaphore.MaxName || len(l.Value) > semaphore.MaxName || l.Key == ""
	}); i >= 0 {
		return &semaphore.FieldError{Field: "labels", Value: s.Labels[i].Key, Rule: fmt.Sprintf("must have a key of 1 to %d bytes and a value of at most %[1]d bytes", semaphore.MaxName)}
	}
	return nil
}
