package fsm

import (
	"fmt"
	"time"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// A writer converts values to messages and keeps the first error.
type writer struct{ err error }

// A reader converts messages to values and keeps the first error.
type reader struct {
	err      error
	level    uint32            // the highest feature level that the input requires
	interned map[string]string // interned strings; nil for small inputs
}

// maxInterned is the maximum number of interned strings.
const maxInterned = 1 << 16

// intern returns a shared copy of s. A hundred thousand definitions share a few labels, and a million permits have no
// more acquirers than there are hosts.
func (r *reader) intern(s string) string {
	if same, ok := r.interned[s]; ok {
		return same
	}
	if r.interned != nil && len(r.interned) < maxInterned {
		r.interned[s] = s
	}
	return s
}

// each converts all elements of a list. It returns nil for an empty list.
func each[From, To any](list []From, convert func(From) To) []To {
	if len(list) == 0 {
		return nil
	}
	out := make([]To, len(list))
	for i, e := range list {
		out[i] = convert(e)
	}
	return out
}

func (r *reader) requires(level uint32) { r.level = max(r.level, level) }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// The earliest and latest times that can be represented in Unix nanoseconds. time.Time.UnixNano is undefined for all
// other times.
var (
	earliest = time.Unix(0, -1<<63)  //nolint:gochecknoglobals // constant
	latest   = time.Unix(0, 1<<63-1) //nolint:gochecknoglobals // constant
)

// nanos converts t to Unix nanoseconds and checks the range. It does not treat the zero time specially.
func (w *writer) nanos(t time.Time) int64 {
	if t.Before(earliest) || t.After(latest) {
		if w.err == nil {
			w.err = fmt.Errorf("the time %v cannot be represented in Unix nanoseconds", t)
		}
		return 0
	}
	return t.UnixNano()
}

// time writes the zero time as 0, so 1970-01-01T00:00:00Z is read back as the zero time.
func (w *writer) time(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return w.nanos(t)
}

func timeFromProto(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

func duration(n int64) time.Duration { return time.Duration(n) }

// enum reads an enum, whose numbers are frozen. It checks the range so that a value is never truncated to fit the Go
// type.
func (r *reader) enum(n, low, high uint32, what string) uint8 {
	if n < low || n > high {
		r.fail("unknown %s %d", what, n)
		return 0
	}
	return uint8(n)
}

func (r *reader) job(in *logv1.Release) semaphore.JobEnd {
	switch {
	case in.GetNotRun() && in.GetCutShort() || in.GetFailed() && (in.GetNotRun() || in.GetCutShort()):
		r.fail("a job has more than one outcome: it did not run, was cut short, or failed")
	case in.GetFailure() != "" && !in.GetFailed() && !in.GetNotRun() && !in.GetCutShort():
		r.fail("a completed job has a failure message")
	case in.GetFailed():
		return semaphore.JobFailed
	case in.GetNotRun():
		return semaphore.JobNotRun
	case in.GetCutShort():
		return semaphore.JobCutShort
	}
	return semaphore.JobDone
}

func identityToProto(id semaphore.Identity) *logv1.Identity {
	return &logv1.Identity{Group: id.Group, Acquirer: id.Acquirer, HolderId: id.HolderID, Principal: id.Principal}
}

func (r *reader) identity(in *logv1.Identity) semaphore.Identity {
	if in.GetPrincipal() != "" {
		r.requires(4)
	}
	return semaphore.Identity{
		Group: in.GetGroup(), Acquirer: in.GetAcquirer(), HolderID: in.GetHolderId(), Principal: r.intern(in.GetPrincipal()),
	}
}

func (w *writer) firing(f *semaphore.Firing) *logv1.Firing {
	if f == nil {
		return nil
	}
	out := &logv1.Firing{Name: f.Name}
	if !f.Due.IsZero() {
		due := w.nanos(f.Due)
		out.Due = &due
	}
	return out
}

func (r *reader) firing(in *logv1.Firing) *semaphore.Firing {
	if in == nil {
		return nil
	}
	out := &semaphore.Firing{Name: in.GetName()}
	if in.Due != nil {
		out.Due = time.Unix(0, in.GetDue()).UTC()
	}
	return out
}

// requiredFiring reads a firing that must be present.
func (r *reader) requiredFiring(in *logv1.Firing) semaphore.Firing {
	if in == nil {
		r.fail("a firing is missing")
		return semaphore.Firing{}
	}
	return *r.firing(in)
}

func (w *writer) expected(f ExpectedClaim) *logv1.ExpectedClaim {
	return &logv1.ExpectedClaim{Firing: w.firing(&f.Firing), Token: f.Token}
}

func (r *reader) expected(in *logv1.ExpectedClaim) ExpectedClaim {
	return ExpectedClaim{Firing: r.requiredFiring(in.GetFiring()), Token: in.GetToken()}
}

func labelsToProto(labels semaphore.Labels) []*logv1.Label {
	return each(labels, func(l semaphore.Label) *logv1.Label { return &logv1.Label{Key: l.Key, Value: l.Value} })
}

// metadataToProto encodes equal maps as equal bytes.
func metadataToProto(m map[string]string) []*logv1.Label { return labelsToProto(semaphore.LabelsOf(m)) }

func (r *reader) labels(in []*logv1.Label) semaphore.Labels {
	if len(in) == 0 {
		return nil
	}
	out := make(semaphore.Labels, len(in))
	for i, l := range in {
		if i > 0 && in[i-1].GetKey() >= l.GetKey() {
			r.fail("labels are not sorted by key")
		}
		out[i] = semaphore.Label{Key: r.intern(l.GetKey()), Value: r.intern(l.GetValue())}
	}
	return out
}

func definitionToProto(d *semaphore.Definition) *logv1.Definition {
	if d == nil {
		return nil
	}
	return &logv1.Definition{
		Name: d.Name, Description: d.Description, Labels: labelsToProto(d.Labels),
		GroupPattern: d.GroupPattern, AcquirerPattern: d.AcquirerPattern, Permits: d.Permits,
		Duration: int64(d.Duration), MaxHold: int64(d.MaxHold), MinHold: int64(d.MinHold), LossDelay: int64(d.LossDelay),
		OnExpiry: uint32(d.OnExpiry), FiringOnLoss: uint32(d.FiringOnLoss), Takeover: d.Takeover, ExpectEvery: int64(d.ExpectEvery),
		FiringRetention: int64(d.FiringRetention), FiringLimit: d.FiringLimit, FiringMaxAhead: int64(d.FiringMaxAhead),
		MaxAttempts: d.MaxAttempts, Misfire: uint32(d.Misfire), MisfireWindow: int64(d.MisfireWindow),
	}
}

// definition reads enums as numbers and checks only that they fit their types. Validate checks that the values are
// known.
func (r *reader) definition(in *logv1.Definition) *semaphore.Definition {
	if in == nil {
		return nil
	}
	const wide = 1<<8 - 1
	if in.GetFiringMaxAhead() != 0 {
		r.requires(3)
	}
	if in.GetMaxAttempts() != 0 || in.GetMisfire() != 0 || in.GetMisfireWindow() != 0 {
		r.requires(4)
	}
	return &semaphore.Definition{
		Name: in.GetName(), Description: in.GetDescription(), Labels: r.labels(in.GetLabels()),
		GroupPattern: pattern(in.GetGroupPattern()), AcquirerPattern: pattern(in.GetAcquirerPattern()), Permits: in.GetPermits(),
		Duration: duration(in.GetDuration()), MaxHold: duration(in.GetMaxHold()), MinHold: duration(in.GetMinHold()),
		LossDelay:    duration(in.GetLossDelay()),
		OnExpiry:     semaphore.OnExpiry(r.enum(in.GetOnExpiry(), 0, wide, "on_expiry")),
		FiringOnLoss: semaphore.FiringOnLoss(r.enum(in.GetFiringOnLoss(), 0, wide, "firing_on_loss")),
		Takeover:     in.GetTakeover(), ExpectEvery: duration(in.GetExpectEvery()),
		FiringRetention: duration(in.GetFiringRetention()), FiringLimit: in.GetFiringLimit(), FiringMaxAhead: duration(in.GetFiringMaxAhead()),
		MaxAttempts: in.GetMaxAttempts(), Misfire: semaphore.Misfire(r.enum(in.GetMisfire(), 0, wide, "misfire")),
		MisfireWindow: duration(in.GetMisfireWindow()),
	}
}

// pattern returns the same string for all definitions with the default pattern.
func pattern(s string) string {
	if s == semaphore.DefaultPattern {
		return semaphore.DefaultPattern
	}
	return s
}

func settingsToProto(s Settings) *logv1.Settings {
	out := &logv1.Settings{
		MaxDuration: int64(s.MaxDuration), JournalPerSemaphore: s.JournalPerSemaphore, JournalTotal: s.JournalTotal,
		JournalLifetime: int64(s.JournalLifetime), RememberedRequests: s.RememberedRequests, RememberedDeletions: s.RememberedDeletions,
	}
	if b := s.Requests; b != (RequestBounds{}) {
		out.Requests = &logv1.RequestBounds{Lifetime: int64(b.Lifetime), Kept: b.Kept, RequestBytes: b.RequestBytes, EditBytes: b.EditBytes}
	}
	if l := s.Work; l != (work.Limits{}) {
		out.Work = &logv1.WorkLimits{TaskBytes: l.TaskBytes, JobBytes: l.JobBytes, SemaphoreBytes: l.SemaphoreBytes, ClusterBytes: l.ClusterBytes}
	}
	return out
}

func (r *reader) settings(in *logv1.Settings) Settings {
	if in == nil {
		r.fail("no settings")
	}
	b := in.GetRequests()
	if b != nil {
		r.requires(3)
	}
	l := in.GetWork()
	if l != nil {
		r.requires(4)
	}
	return Settings{
		MaxDuration: duration(in.GetMaxDuration()), JournalPerSemaphore: in.GetJournalPerSemaphore(), JournalTotal: in.GetJournalTotal(),
		JournalLifetime:    duration(in.GetJournalLifetime()),
		RememberedRequests: in.GetRememberedRequests(), RememberedDeletions: in.GetRememberedDeletions(),
		Requests: RequestBounds{Lifetime: duration(b.GetLifetime()), Kept: b.GetKept(), RequestBytes: b.GetRequestBytes(), EditBytes: b.GetEditBytes()},
		Work: work.Limits{
			TaskBytes: l.GetTaskBytes(), JobBytes: l.GetJobBytes(), SemaphoreBytes: l.GetSemaphoreBytes(), ClusterBytes: l.GetClusterBytes(),
		},
	}
}

func (r *reader) missed(n uint32) Missed {
	return Missed(r.enum(n, uint32(NothingMissed), uint32(HeldTooLong), "kind of missed work"))
}

func (w *writer) sighting(s Sighting) *logv1.Sighting {
	return &logv1.Sighting{Group: s.Group, Acquirer: s.Acquirer, At: w.time(s.At)}
}

func sightingFromProto(in *logv1.Sighting) Sighting {
	return Sighting{Group: in.GetGroup(), Acquirer: in.GetAcquirer(), At: timeFromProto(in.GetAt())}
}

func expectedToProto(e Expected) *logv1.Expected {
	return &logv1.Expected{Version: e.Version, Pause: e.Pause}
}

func expectedFromProto(e *logv1.Expected) Expected {
	return Expected{Version: e.GetVersion(), Pause: e.GetPause()}
}
