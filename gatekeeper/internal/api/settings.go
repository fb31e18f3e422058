package api

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// GetSettings reads the settings in force.
func (s *clusterService) GetSettings(ctx context.Context, m *gatekeeperv1.GetSettingsRequest) (*gatekeeperv1.GetSettingsResponse, error) {
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.GetSettingsResponse{Settings: toSettings(state.Settings()), Revision: state.Revision()}, nil
}

// SetSettings changes the fields that are present.
func (s *clusterService) SetSettings(ctx context.Context, m *gatekeeperv1.SetSettingsRequest) (*gatekeeperv1.SetSettingsResponse, error) {
	author, reason, err := wordFrom(m)
	if err != nil {
		return nil, err
	}
	change := func(now fsm.Settings) (fsm.Settings, error) {
		if m.GetExpected() != nil && !proto.Equal(m.GetExpected(), toSettings(now)) {
			return now, &changedError{}
		}
		return settingsFrom(m.GetSettings(), now)
	}
	out := new(gatekeeperv1.SetSettingsResponse)
	var before, after fsm.Settings
	if m.GetDryRun() {
		state, err := s.reader.Read(ctx)
		if err != nil {
			return nil, err
		}
		before = state.Settings()
		if after, err = change(before); err != nil {
			return nil, err
		}
		out.Warnings = settingsWarnings(state, before, after)
	} else {
		var result fsm.RevisionResult
		if before, after, result, err = s.keeper.Configure(ctx, author, reason, change); err != nil {
			return nil, err
		}
		out.Revision = result.Revision
		out.Warnings = settingsWarnings(s.cfg.Machine.State(), before, after)
	}
	out.Before, out.After, out.Confirm = toSettings(before), toSettings(after), settingsConfirm(before, after)
	return out, nil
}

func toSettings(s fsm.Settings) *gatekeeperv1.Settings {
	requests := s.Requests.OrDefault()
	return &gatekeeperv1.Settings{
		MaxDuration:         durationpb.New(s.MaxDuration),
		JournalPerSemaphore: &s.JournalPerSemaphore,
		JournalTotal:        &s.JournalTotal,
		JournalLifetime:     durationpb.New(lifetime(s)),
		RememberedDeletions: &s.RememberedDeletions,
		RequestLifetime:     durationpb.New(requests.Lifetime),
		RequestsKept:        &requests.Kept,
		RequestBytes:        &requests.RequestBytes,
		EditBytes:           &requests.EditBytes,
	}
}

func lifetime(s fsm.Settings) time.Duration {
	if s.JournalLifetime == 0 {
		return fsm.DefaultJournalLifetime
	}
	return s.JournalLifetime
}

// settingsFrom is now with the fields that m has. A field that keeps its default stays unset, so that servers of an older feature level
// understand the rest.
func settingsFrom(m *gatekeeperv1.Settings, now fsm.Settings) (fsm.Settings, error) {
	next, in := now, settingReader{m: m}
	requests := now.Requests.OrDefault()
	journal := lifetime(now)
	in.span("max_duration", m.GetMaxDuration(), semaphore.MinDuration, &next.MaxDuration)
	in.span("journal_lifetime", m.GetJournalLifetime(), time.Second, &journal)
	in.span("request_lifetime", m.GetRequestLifetime(), time.Second, &requests.Lifetime)
	setting(&in, "journal_per_semaphore", m.JournalPerSemaphore, 1, math.MaxUint32, &next.JournalPerSemaphore)
	setting(&in, "journal_total", m.JournalTotal, 1, math.MaxUint32, &next.JournalTotal)
	setting(&in, "remembered_deletions", m.RememberedDeletions, 1, math.MaxUint32, &next.RememberedDeletions)
	setting(&in, "requests_kept", m.RequestsKept, 1, math.MaxUint32, &requests.Kept)
	setting(&in, "request_bytes", m.RequestBytes, fsm.MinRequestBytes, math.MaxInt64, &requests.RequestBytes)
	setting(&in, "edit_bytes", m.EditBytes, fsm.MinRequestBytes, math.MaxInt64, &requests.EditBytes)
	if journal != lifetime(now) {
		next.JournalLifetime = journal
	}
	if requests != now.Requests.OrDefault() {
		next.Requests = requests
	}
	return next, in.err
}

// settingReader reads fields of m until one breaks its rule.
type settingReader struct {
	m   *gatekeeperv1.Settings
	err error
}

func (r *settingReader) span(name string, d *durationpb.Duration, least time.Duration, to *time.Duration) {
	if r.err != nil || d == nil {
		return
	}
	field := "settings." + name
	v, err := durationFrom(field, d, 0)
	if err == nil && (v < least || v > semaphore.MaxSpan) {
		err = invalid(field, v.String(), fmt.Sprintf("must be %v to %v", least, semaphore.MaxSpan))
	}
	if r.err = err; err == nil {
		*to = v
	}
}

func setting[T uint32 | uint64](r *settingReader, name string, v *T, least, most uint64, to *T) {
	switch {
	case r.err != nil || v == nil:
	case uint64(*v) < least || uint64(*v) > most:
		r.err = invalid("settings."+name, strconv.FormatUint(uint64(*v), 10), fmt.Sprintf("must be %d or more", least))
	default:
		*to = *v
	}
}

// settingsConfirm is why a person must agree: what is beyond a lower bound is gone.
func settingsConfirm(before, after fsm.Settings) []*gatekeeperv1.Confirmation {
	was, is := before.Requests.OrDefault(), after.Requests.OrDefault()
	var out []*gatekeeperv1.Confirmation
	lower := func(fell bool, text string) {
		if fell {
			out = append(out, &gatekeeperv1.Confirmation{Kind: gatekeeperv1.ConfirmationKind_CONFIRMATION_KIND_LOWERS_BOUND, Text: text})
		}
	}
	lower(after.JournalPerSemaphore < before.JournalPerSemaphore || after.JournalTotal < before.JournalTotal || lifetime(after) < lifetime(before),
		"entries of the journal beyond the new bound are lost, and the changes they record cannot be undone")
	lower(after.RememberedDeletions < before.RememberedDeletions,
		"versions of deleted definitions beyond the new bound are forgotten")
	lower(is.Lifetime < was.Lifetime || is.Kept < was.Kept || is.RequestBytes < was.RequestBytes || is.EditBytes < was.EditBytes,
		"requests are forgotten sooner, so late repeats of them fail")
	return out
}

func settingsWarnings(state *fsm.State, before, after fsm.Settings) []string {
	if after.MaxDuration >= before.MaxDuration {
		return nil
	}
	longer := 0
	for d := range state.Definitions("") {
		if max(d.Definition.Duration, d.Definition.MinHold, d.Definition.LossDelay) > after.MaxDuration {
			longer++
		}
	}
	if longer == 0 {
		return nil
	}
	return []string{fmt.Sprintf("definitions with a longer duration, min_hold or loss_delay than %v: %d; they keep it until they are edited", after.MaxDuration, longer)}
}
