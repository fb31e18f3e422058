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
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/preview"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// GetSettings returns the current settings.
func (s *clusterService) GetSettings(ctx context.Context, m *gatekeeperv1.GetSettingsRequest) (*gatekeeperv1.GetSettingsResponse, error) {
	state, err := s.read(ctx, m.GetStale())
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.GetSettingsResponse{Settings: toSettings(state.Settings()), Revision: state.Revision()}, nil
}

// SetSettings changes the fields that are set in the request.
func (s *clusterService) SetSettings(ctx context.Context, m *gatekeeperv1.SetSettingsRequest) (*gatekeeperv1.SetSettingsResponse, error) {
	author, reason, err := authorReasonFrom(m)
	if err != nil {
		return nil, err
	}
	change := func(current fsm.Settings) (fsm.Settings, error) {
		if m.GetExpected() != nil && !proto.Equal(m.GetExpected(), toSettings(current)) {
			return current, &preview.ChangedError{}
		}
		return settingsFrom(m.GetSettings(), current)
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
		out.Warnings = preview.SettingsWarnings(state, before, after)
	} else {
		var result fsm.RevisionResult
		if before, after, result, err = s.keeper.Configure(ctx, author, reason, change); err != nil {
			return nil, err
		}
		out.Revision = result.Revision
		out.Warnings = preview.SettingsWarnings(s.cfg.Machine.State(), before, after)
	}
	out.Before, out.After, out.Confirm = toSettings(before), toSettings(after), toConfirmations(preview.ConfirmSettings(before, after))
	return out, nil
}

func toSettings(s fsm.Settings) *gatekeeperv1.Settings {
	requests, work := s.Requests.OrDefault(), s.Work.OrDefault()
	return &gatekeeperv1.Settings{
		MaxDuration:         durationpb.New(s.MaxDuration),
		JournalPerSemaphore: &s.JournalPerSemaphore,
		JournalTotal:        &s.JournalTotal,
		JournalLifetime:     durationpb.New(s.JournalLife()),
		RememberedDeletions: &s.RememberedDeletions,
		RequestLifetime:     durationpb.New(requests.Lifetime),
		RequestsKept:        &requests.Kept,
		RequestBytes:        &requests.RequestBytes,
		EditBytes:           &requests.EditBytes,

		MaxTaskBytes:          &work.TaskBytes,
		MaxJobBytes:           &work.JobBytes,
		MaxSemaphoreWorkBytes: &work.SemaphoreBytes,
		MaxWorkBytes:          &work.ClusterBytes,
	}
}

// settingsFrom returns the current settings with the fields in m replaced. A field left at its default stays unset, so
// that servers at a lower feature level can process the others.
func settingsFrom(m *gatekeeperv1.Settings, current fsm.Settings) (fsm.Settings, error) {
	next, in := current, settingReader{m: m}
	requests, work := current.Requests.OrDefault(), current.Work.OrDefault()
	journal := current.JournalLife()
	in.readDuration("max_duration", m.GetMaxDuration(), semaphore.MinDuration, &next.MaxDuration)
	in.readDuration("journal_lifetime", m.GetJournalLifetime(), time.Second, &journal)
	in.readDuration("request_lifetime", m.GetRequestLifetime(), time.Second, &requests.Lifetime)
	readNumber(&in, "journal_per_semaphore", m.JournalPerSemaphore, 1, math.MaxUint32, &next.JournalPerSemaphore)
	readNumber(&in, "journal_total", m.JournalTotal, 1, math.MaxUint32, &next.JournalTotal)
	readNumber(&in, "remembered_deletions", m.RememberedDeletions, 1, math.MaxUint32, &next.RememberedDeletions)
	readNumber(&in, "requests_kept", m.RequestsKept, 1, math.MaxUint32, &requests.Kept)
	readNumber(&in, "request_bytes", m.RequestBytes, fsm.MinRequestBytes, math.MaxInt64, &requests.RequestBytes)
	readNumber(&in, "edit_bytes", m.EditBytes, fsm.MinRequestBytes, math.MaxInt64, &requests.EditBytes)
	readNumber(&in, "max_task_bytes", m.MaxTaskBytes, 1, rules.MaxTaskBytes, &work.TaskBytes)
	readNumber(&in, "max_job_bytes", m.MaxJobBytes, 1, math.MaxInt64, &work.JobBytes)
	readNumber(&in, "max_semaphore_work_bytes", m.MaxSemaphoreWorkBytes, 1, math.MaxInt64, &work.SemaphoreBytes)
	readNumber(&in, "max_work_bytes", m.MaxWorkBytes, 1, math.MaxInt64, &work.ClusterBytes)
	if journal != current.JournalLife() {
		next.JournalLifetime = journal
	}
	if requests != current.Requests.OrDefault() {
		next.Requests = requests
	}
	if work != current.Work.OrDefault() {
		next.Work = work
	}
	return next, in.err
}

// settingReader reads fields of m until one is invalid.
type settingReader struct {
	m   *gatekeeperv1.Settings
	err error
}

func (r *settingReader) readDuration(name string, d *durationpb.Duration, minimum time.Duration, dst *time.Duration) {
	if r.err != nil || d == nil {
		return
	}
	field := "settings." + name
	v, err := durationFrom(field, d, 0)
	if err == nil && (v < minimum || v > semaphore.MaxSpan) {
		err = invalid(field, v.String(), fmt.Sprintf("must be %v to %v", minimum, semaphore.MaxSpan))
	}
	if r.err = err; err == nil {
		*dst = v
	}
}

func readNumber[T uint32 | uint64](r *settingReader, name string, v *T, minimum, maximum uint64, dst *T) {
	switch {
	case r.err != nil || v == nil:
	case uint64(*v) < minimum || uint64(*v) > maximum:
		rule := fmt.Sprintf("must be %d or more", minimum)
		if maximum < math.MaxUint32 {
			rule = fmt.Sprintf("must be %d to %d", minimum, maximum)
		}
		r.err = invalid("settings."+name, strconv.FormatUint(uint64(*v), 10), rule)
	default:
		*dst = *v
	}
}
