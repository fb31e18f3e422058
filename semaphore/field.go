package semaphore

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxShown is the maximum number of bytes of a value shown in an error or a sentence.
const MaxShown = 80

// A FieldError reports a field of a definition or request that breaks a rule. This package returns no other errors.
type FieldError struct {
	// Field is the field's name in the API, in snake_case, with dots between levels: "group_pattern",
	// "identity.acquirer".
	Field string
	// Value is the field's value made safe for printing: valid UTF-8, no control characters, at most MaxShown bytes.
	Value string
	// Rule is the rule that the value breaks, worded as the end of a sentence: "must be 100ms to 1h".
	Rule string
}

// Error returns a line such as `duration "50ms": must be 100ms to 1h`.
func (e *FieldError) Error() string {
	return e.Field + " " + quote(e.Value) + ": " + e.Rule
}

// Invalid returns an error for a field. It makes the value safe for printing, so callers can pass untrusted input.
func Invalid(field, value, rule string) *FieldError {
	return &FieldError{Field: field, Value: show(value), Rule: rule}
}

// quote makes a value safe for printing and puts it in quotation marks. Unlike strconv.Quote, it does not escape
// backslashes and quotation marks, so a pattern is shown as written.
func quote(s string) string { return `"` + show(s) + `"` }

// show makes a value safe for printing. It writes control characters and bytes that are not valid UTF-8 as Go escapes,
// and truncates the result to MaxShown bytes with an ellipsis. It is idempotent.
func show(s string) string {
	const ellipsis = "…"
	if len(s) <= MaxShown && !hasControl(s) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	fits := 0 // the length of b up to which an ellipsis still fits
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		if unicode.IsControl(r) || (r == utf8.RuneError && size == 1) {
			piece = strings.Trim(strconv.Quote(piece), `"`)
		}
		if b.Len()+len(piece) > MaxShown {
			return b.String()[:fits] + ellipsis
		}
		b.WriteString(piece)
		if b.Len()+len(ellipsis) <= MaxShown {
			fits = b.Len()
		}
		i += size
	}
	return b.String()
}

func hasControl(s string) bool { return strings.IndexFunc(s, unicode.IsControl) >= 0 }

// FormatDuration formats a duration without zero units: "1h" instead of "1h0m0s".
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-len("0s")]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-len("0m")]
	}
	return s
}
