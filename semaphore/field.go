package semaphore

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxShown is the most bytes of a value that an error or a sentence repeats.
const MaxShown = 80

// FieldError says which field of a definition or request breaks which rule. It is the only error of this package.
type FieldError struct {
	// Field is the field's name as in the API, in snake_case, with dots between levels: "group_pattern",
	// "identity.acquirer".
	Field string
	// Value is what the field said, fit for printing: valid UTF-8, no control characters, at most MaxShown bytes.
	Value string
	// Rule is what the field must be, as the end of a sentence: "must be 100ms to 1h".
	Rule string
}

// Error is a line such as `duration "50ms": must be 100ms to 1h`.
func (e *FieldError) Error() string {
	return e.Field + " " + quote(e.Value) + ": " + e.Rule
}

// Invalid makes the error of a field. It makes the value fit for printing, so that no caller must be afraid of what a
// stranger wrote into a field.
func Invalid(field, value, rule string) *FieldError {
	return &FieldError{Field: field, Value: show(value), Rule: rule}
}

// quote puts a value between quotation marks, made fit for printing. Unlike strconv.Quote it leaves backslashes and
// quotation marks alone, so that a pattern reads as it was written.
func quote(s string) string { return `"` + show(s) + `"` }

// show makes a value fit for printing: control characters and bytes that are no UTF-8 are written as Go escapes, and
// what is longer than MaxShown bytes ends in an ellipsis. Showing what was shown changes nothing.
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

// FormatDuration writes a duration without empty units: "1h" and not "1h0m0s".
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
