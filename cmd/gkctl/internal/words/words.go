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

// Progress is how far a task is; empty if nothing was reported.
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

// HeldText says of a permit that is held for an operator what it does and how it is ended.
func HeldText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s: the permit of %s expired, and its slot is held for an operator: nobody is granted it before gkctl clear %d",
		p.GetSemaphore(), HolderText(p), p.GetToken())
}

// HolderText names the holder of a permit.
func HolderText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s in %s (token %d)", p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), p.GetToken())
}

// PermitText is who has a permit.
func PermitText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("token %d, %s in %s", p.GetToken(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup())
}

// PermitState says how a permit is, and whether its holder must stop.
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

// Holder is the holder of a permit, as -o json has it.
type Holder struct {
	Token    uint64 `json:"token,string"`
	Group    string `json:"group"`
	Acquirer string `json:"acquirer"`
	HolderID string `json:"holder_id,omitempty"`
}

// HolderOf is the holder of a permit.
func HolderOf(p *gatekeeperv1.Permit) Holder {
	id := p.GetIdentity()
	return Holder{Token: p.GetToken(), Group: id.GetGroup(), Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

// ProtoSeconds is a duration as protobuf's JSON has it.
func ProtoSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s" }

// Firing is a firing as it is written in flags.
func Firing(f *gatekeeperv1.Firing) string {
	if f == nil {
		return ""
	}
	if f.GetDue() == nil {
		return f.GetName()
	}
	return f.GetName() + "@" + f.GetDue().AsTime().Format(time.RFC3339Nano)
}

// DueText is an instant for people, in UTC as firings have it, and without fractions of a second.
func DueText(t *timestamppb.Timestamp) string { return t.AsTime().Format(time.RFC3339) }

// MarkMoved says whether a change moved the time up to which firings count as forgotten.
func MarkMoved(c *gatekeeperv1.FiringsChange) bool {
	return !c.GetForgottenUpTo().AsTime().Equal(c.GetForgottenUpToBefore().AsTime())
}

// ForgottenText says in one line what a change did to a memory of firings.
func ForgottenText(c *gatekeeperv1.FiringsChange, verb string) string {
	var text string
	if names := Mapped(c.GetFirings(), func(f *gatekeeperv1.FiringClaim) string { return Firing(f.GetFiring()) }); len(names) > 0 {
		text = fmt.Sprintf("%s %s (%s)", Plural(len(names), "firing", "firings"), verb, SomeNames(names))
	}
	if MarkMoved(c) {
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

// PauseText says until when a pause lasts, and what it does to holders.
func PauseText(p *gatekeeperv1.Pause) string {
	var parts []string
	if p.GetUntil() != nil {
		parts = append(parts, "until "+When(p.GetUntil()))
	}
	switch {
	case p.GetStop() && p.GetDrain() != nil:
		parts = append(parts, "holders are to stop within "+Duration(p.GetDrain()))
	case p.GetStop():
		parts = append(parts, "holders are to stop")
	}
	return strings.Join(parts, ", ")
}

// CordonText says what a cordon catches, and until when.
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

// ChangesText names changes.
func ChangesText(changes []uint64) string {
	const most = 5
	if len(changes) == 1 {
		return "change " + Number(changes[0])
	}
	text := "changes " + strings.Join(Mapped(changes[:min(most, len(changes))], Number), ", ")
	if more := len(changes) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// MissingText says what the journal has forgotten of a change.
func MissingText(m *gatekeeperv1.MissingEntries) string {
	parts := slices.Clone(m.GetSemaphores())
	if n := m.GetCordons(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d cordons", n))
	}
	what := strings.Join(parts, ", ")
	if what == "" {
		what = "some of what it changed"
	}
	return fmt.Sprintf("the journal has forgotten what change %d did to %s", m.GetChange(), what)
}
