package words

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Word returns the name of an enum value in lower case, without the prefix: STOP_CAUSE_HELD_TOO_LONG becomes "held too
// long". It returns an empty string for an unspecified value.
func Word(value fmt.Stringer, prefix string) string {
	w := strings.TrimPrefix(value.String(), prefix)
	if w == "UNSPECIFIED" {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(w, "_", " "))
}

// Duration formats a duration. It returns an empty string for nil and 0.
func Duration(d *durationpb.Duration) string {
	if d.AsDuration() == 0 {
		return ""
	}
	return deffile.FormatDuration(d.AsDuration())
}

// Brief rounds a duration and formats it for display.
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

// Elapsed formats how long something took. Short durations keep their fractions.
func Elapsed(d time.Duration) string {
	if d < 10*time.Second {
		return deffile.FormatDuration(d.Round(time.Millisecond))
	}
	return Brief(d)
}

// Ago formats the time since t according to the local clock. It is for display only, because that clock may be off.
func Ago(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return Brief(time.Since(t.AsTime()))
}

// When formats a time as a local date and time. It returns an empty string for nil.
func When(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Local().Format("2006-01-02 15:04:05")
}

// Number formats a number for a table.
func Number[N uint32 | uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

// Progress formats the progress of a task. It returns an empty string if the worker has reported none.
func Progress(p *gatekeeperv1.Progress) string {
	if p == nil {
		return ""
	}
	text := strconv.Itoa(int(math.Round(100*p.GetFraction()))) + "%"
	if p.GetText() != "" {
		text += " " + p.GetText()
	}
	return text
}

// Pairs formats a map as k=v,k=v.
func Pairs(m map[string]string) string {
	keys := slices.Sorted(maps.Keys(m))
	return strings.Join(Map(keys, func(k string) string { return k + "=" + m[k] }), ",")
}

// Plural returns a number followed by its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Map returns a slice with the result of f for each element.
func Map[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// SomeNames lists the first few names and counts the rest.
func SomeNames(names []string) string {
	const maxShown = 3
	text := strings.Join(names[:min(maxShown, len(names))], ", ")
	if more := len(names) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Cell makes text safe for a table and a terminal: empty text becomes a dash, and control characters become spaces.
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

// Seconds formats a duration the way protobuf's JSON does.
func Seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

// ShellWord quotes text, if necessary, so that a shell reads it as one word.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// HeldText describes an expired permit whose slot is held for an operator, and how to free the slot.
func HeldText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s: the permit held by %s expired; its slot is held until an operator runs gkctl clear %d",
		p.GetSemaphore(), HolderText(p), p.GetToken())
}

// HolderText formats a permit's holder, with the token at the end.
func HolderText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s in %s (token %d)", p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), p.GetToken())
}

// PermitText formats a permit's token, followed by the holder.
func PermitText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("token %d, %s in %s", p.GetToken(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup())
}

// PermitState describes a permit's state and whether its holder must stop.
func PermitState(p *gatekeeperv1.Permit) string {
	s := Word(p.GetState(), "PERMIT_STATE_")
	if p.GetDrainLeft() != nil {
		s += ", draining for " + Brief(p.GetDrainLeft().AsDuration())
	}
	if cause := Word(p.GetStop(), "STOP_CAUSE_"); cause != "" {
		s += ", stopping: " + cause
		if p.GetStopReason() != "" {
			s += " (" + p.GetStopReason() + ")"
		}
	}
	return s
}

// Holder is a permit's holder in JSON output.
type Holder struct {
	Token    uint64 `json:"token,string"`
	Group    string `json:"group"`
	Acquirer string `json:"acquirer"`
	HolderID string `json:"holder_id,omitempty"`
}

// HolderOf returns a permit's holder.
func HolderOf(p *gatekeeperv1.Permit) Holder {
	id := p.GetIdentity()
	return Holder{Token: p.GetToken(), Group: id.GetGroup(), Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

// ProtoSeconds formats a duration the way protobuf's JSON does, with milliseconds.
func ProtoSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s" }

// Firing formats a firing in the form that flags accept.
func Firing(f *gatekeeperv1.Firing) string {
	if f == nil {
		return ""
	}
	if f.GetDue() == nil {
		return f.GetName()
	}
	return f.GetName() + "@" + f.GetDue().AsTime().Format(time.RFC3339Nano)
}

// DueText formats a firing's due time for display, in UTC and without fractions of a second.
func DueText(t *timestamppb.Timestamp) string { return t.AsTime().Format(time.RFC3339) }

// ForgottenUpToChanged reports whether a change moved the time up to which firings are considered forgotten.
func ForgottenUpToChanged(c *gatekeeperv1.FiringsChange) bool {
	return !c.GetForgottenUpTo().AsTime().Equal(c.GetForgottenUpToBefore().AsTime())
}

// ForgottenText describes in one line how a change affected the recorded firings.
func ForgottenText(c *gatekeeperv1.FiringsChange, verb string) string {
	var text string
	if names := Map(c.GetFirings(), func(f *gatekeeperv1.FiringClaim) string { return Firing(f.GetFiring()) }); len(names) > 0 {
		text = fmt.Sprintf("%s %s (%s)", Plural(len(names), "firing", "firings"), verb, SomeNames(names))
	}
	if ForgottenUpToChanged(c) {
		if text != "" {
			text += "; "
		}
		text += "forgotten up to " + DueText(c.GetForgottenUpTo())
		if c.GetForgottenUpToBefore() != nil {
			text += " instead of " + DueText(c.GetForgottenUpToBefore())
		}
	}
	return text
}

// PauseText describes when a pause ends and whether holders must stop.
func PauseText(p *gatekeeperv1.Pause) string {
	var parts []string
	if p.GetUntil() != nil {
		parts = append(parts, "until "+When(p.GetUntil()))
	}
	switch {
	case p.GetStop() && p.GetDrain() != nil:
		parts = append(parts, "holders must stop within "+Duration(p.GetDrain()))
	case p.GetStop():
		parts = append(parts, "holders must stop")
	}
	return strings.Join(parts, ", ")
}

// CordonText describes which callers a cordon matches and when it ends.
func CordonText(c *gatekeeperv1.CordonRecord) string {
	parts := []string{strconv.Quote(c.GetId())}
	if c.GetGroupPattern() != "" {
		parts = append(parts, "group "+c.GetGroupPattern())
	}
	if c.GetAcquirerPattern() != "" {
		parts = append(parts, "acquirer "+c.GetAcquirerPattern())
	}
	if c.GetUntil() != nil {
		parts = append(parts, "until "+When(c.GetUntil()))
	}
	return strings.Join(parts, ", ")
}

// ChangesText lists changes by their numbers.
func ChangesText(changes []uint64) string {
	const maxShown = 5
	if len(changes) == 1 {
		return "change " + Number(changes[0])
	}
	text := "changes " + strings.Join(Map(changes[:min(maxShown, len(changes))], Number), ", ")
	if more := len(changes) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// MissingText describes the part of a change that is no longer in the journal.
func MissingText(m *gatekeeperv1.MissingEntries) string {
	parts := slices.Clone(m.GetSemaphores())
	if n := int(m.GetCordons()); n > 0 {
		parts = append(parts, Plural(n, "cordon", "cordons"))
	}
	what := strings.Join(parts, ", ")
	if what == "" {
		what = "some of the objects it changed"
	}
	return fmt.Sprintf("the journal no longer contains the effects of change %d on %s", m.GetChange(), what)
}
