package words

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
)

// Word is an enumeration's value in small letters, without its type's name: STOP_CAUSE_HELD_TOO_LONG is "held too long".
func Word(value fmt.Stringer, prefix string) string {
	w := strings.TrimPrefix(value.String(), prefix)
	if w == "UNSPECIFIED" {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(w, "_", " "))
}

// Duration is empty when there is none.
func Duration(d *durationpb.Duration) string {
	if d.AsDuration() == 0 {
		return ""
	}
	return deffile.FormatDuration(d.AsDuration())
}

// Brief is a duration as people say it.
func Brief(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return deffile.FormatDuration(d.Round(100 * time.Millisecond))
	case d < time.Hour:
		return deffile.FormatDuration(d.Round(time.Second))
	case d < 48*time.Hour:
		return deffile.FormatDuration(d.Round(time.Minute))
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

// Elapsed is how long something took that may have been quick.
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return deffile.FormatDuration(d.Round(time.Millisecond))
	}
	return Brief(d)
}

// Ago is how long ago something was, by the local clock: for people only.
func Ago(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return Brief(time.Since(t.AsTime()))
}

// When is a local date and time; empty when there is none.
func When(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Local().Format("2006-01-02 15:04:05")
}

// Number is a number for a table.
func Number[N uint32 | uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

// Pairs is a map as k=v,k=v.
func Pairs(m map[string]string) string {
	keys := slices.Sorted(maps.Keys(m))
	return strings.Join(Mapped(keys, func(k string) string { return k + "=" + m[k] }), ",")
}

// Plural is a number with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Mapped calls f with each element.
func Mapped[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// SomeNames lists the first names and counts the others.
func SomeNames(names []string) string {
	const shown = 3
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Cell makes text fit for a table: nothing is shown as a dash, and no character breaks a line or moves a terminal's cursor.
func Cell(s string) string {
	if s == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// Seconds is a duration as protobuf's JSON has it.
func Seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// ShellWord is text as a shell takes it for one word.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
