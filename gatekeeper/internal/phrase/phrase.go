// Package phrase formats parts of messages for people: names, numbers, instants, pauses and firings.
package phrase

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Names lists the first few names and counts the rest.
func Names(names []string) string {
	const limit = 3
	text := strings.Join(names[:min(limit, len(names))], ", ")
	if more := len(names) - limit; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// List joins the first few strings and counts the rest.
func List(texts []string) string {
	const limit = 10
	text := strings.Join(texts[:min(limit, len(texts))], "; ")
	if more := len(texts) - limit; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Count returns a number followed by the singular or plural of a noun.
func Count(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// DidYouMean returns the end of a sentence, suggesting another spelling. It returns "" if suggestion is empty.
func DidYouMean(suggestion string) string {
	if suggestion == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", suggestion)
}

// Instant formats a time in UTC, to the second.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Pause describes a pause: who paused, why, until when, and what the holders must do.
func Pause(p *semaphore.Pause) string {
	words := Closed(p.Author, p.Reason, p.Until)
	switch {
	case p.Stop && p.Drain > 0:
		words += ", holders must stop within " + p.Drain.String()
	case p.Stop:
		words += ", holders must stop"
	}
	return words
}

// Closed describes who closed something, why, and until when.
func Closed(author, reason string, until time.Time) string {
	words := "by " + cmp.Or(author, "an unknown author")
	if reason != "" {
		words += fmt.Sprintf(", %q", reason)
	}
	if until.IsZero() {
		return words + ", indefinitely"
	}
	return words + ", until " + Instant(until)
}

// Firing formats a firing in the form that gkctl parses: its name or, if it has a due time, NAME@TIME.
func Firing(f semaphore.Firing) string {
	if f.Due.IsZero() {
		return f.Name
	}
	return f.Name + "@" + f.Due.UTC().Format(time.RFC3339Nano)
}
