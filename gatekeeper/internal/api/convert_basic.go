package api

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Limits on the text that an operator adds to a change.
const (
	maxAuthor     = semaphore.MaxName
	maxReason     = 1024
	unknownAuthor = "unknown"
)

// durationFrom reads an optional duration. If d is nil, it returns absent. A duration that overflows time.Duration is
// clamped to the maximum, which every range check rejects.
func durationFrom(field string, d *durationpb.Duration, absent time.Duration) (time.Duration, error) {
	if d == nil {
		return absent, nil
	}
	if err := d.CheckValid(); err != nil {
		return 0, invalid(field, strconv.FormatInt(d.GetSeconds(), 10)+"s and "+strconv.FormatInt(int64(d.GetNanos()), 10)+"ns",
			"must be a valid duration: seconds and nanoseconds with the same sign, at most 10,000 years")
	}
	return d.AsDuration(), nil
}

// timestampFrom reads an optional timestamp in UTC. An absent timestamp yields the zero time.
func timestampFrom(field string, t *timestamppb.Timestamp) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if err := t.CheckValid(); err != nil {
		return time.Time{}, invalid(field, strconv.FormatInt(t.GetSeconds(), 10)+"s and "+strconv.FormatInt(int64(t.GetNanos()), 10)+"ns",
			"must be a valid timestamp: in the years 1 to 9999, with 0 to 999,999,999 nanoseconds")
	}
	return t.AsTime(), nil
}

// toTimestamp converts a time. The zero time becomes nil.
func toTimestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// toOptionalDuration converts a duration. Zero becomes nil.
func toOptionalDuration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// authorFrom reads and validates the author of a change.
func authorFrom(s string) (string, error) {
	if s == "" {
		return unknownAuthor, nil
	}
	return s, semaphore.ValidName("author", s)
}

func reasonFrom(s string) (string, error) {
	if len(s) > maxReason {
		return "", invalid("reason", s, "must be at most "+strconv.Itoa(maxReason)+" bytes, not "+strconv.Itoa(len(s)))
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		// Terminals print the text and would interpret control characters.
		return "", invalid("reason", s, "must not contain control characters except line feeds and tabs")
	}
	return s, nil
}

// authorReasonFrom reads and validates the author and the reason of a change.
func authorReasonFrom(message interface {
	GetAuthor() string
	GetReason() string
}) (author, reason string, err error) {
	if author, err = authorFrom(message.GetAuthor()); err != nil {
		return "", "", err
	}
	reason, err = reasonFrom(message.GetReason())
	return author, reason, err
}

func identityFrom(id *gatekeeperv1.Identity) semaphore.Identity {
	group := id.GetGroup()
	if group == "" {
		group = semaphore.DefaultGroup
	}
	return semaphore.Identity{Group: group, Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

func toIdentity(id semaphore.Identity) *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: id.Group, Acquirer: id.Acquirer, HolderId: id.HolderID}
}

func firingFrom(f *gatekeeperv1.Firing) (*semaphore.Firing, error) {
	if f == nil {
		return nil, nil //nolint:nilnil // absent, which is valid
	}
	due, err := timestampFrom("firing.due", f.GetDue())
	return &semaphore.Firing{Name: f.GetName(), Due: due}, err
}

func toFiring(f *semaphore.Firing) *gatekeeperv1.Firing {
	if f == nil {
		return nil
	}
	return &gatekeeperv1.Firing{Name: f.Name, Due: toTimestamp(f.Due)}
}

func toPause(p *semaphore.Pause) *gatekeeperv1.Pause {
	if p == nil {
		return nil
	}
	return &gatekeeperv1.Pause{Reason: p.Reason, Until: toTimestamp(p.Until), Stop: p.Stop, Revision: p.Revision, Author: p.Author, Drain: toOptionalDuration(p.Drain), Change: p.Origin()}
}

// ending is a request that specifies when a change ends.
type ending interface {
	GetUntil() *timestamppb.Timestamp
	GetDuration() *durationpb.Duration
}

func endingFrom(m ending) (keeper.Ending, error) {
	until, err := timestampFrom("until", m.GetUntil())
	if err != nil {
		return keeper.Ending{}, err
	}
	duration, err := durationFrom("duration", m.GetDuration(), 0)
	if err != nil {
		return keeper.Ending{}, err
	}
	if m.GetDuration() != nil && duration <= 0 {
		return keeper.Ending{}, invalid("duration", duration.String(), "must be greater than 0")
	}
	return keeper.Ending{At: until, Duration: duration}, nil
}

// invalid returns the error for a field that violates a rule of the API itself, such as an encoding or a page size. All
// other validation is done by package semaphore.
func invalid(field, value, rule string) error { return semaphore.Invalid(field, value, rule) }

// at returns the path of the i-th element of a repeated field.
func at(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// within prepends a path to the field of a FieldError. It returns any other error unchanged.
func within(path string, err error) error {
	e, ok := errors.AsType[*semaphore.FieldError](err)
	if !ok || path == "" {
		return err
	}
	return &semaphore.FieldError{Field: path + "." + e.Field, Value: e.Value, Rule: e.Rule}
}

// withField replaces the field of a FieldError. It returns any other error unchanged.
func withField(field string, err error) error {
	e, ok := errors.AsType[*semaphore.FieldError](err)
	if !ok {
		return err
	}
	return &semaphore.FieldError{Field: field, Value: e.Value, Rule: e.Rule}
}
