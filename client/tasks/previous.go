package tasks

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// journalPage is the number of journal entries read at a time. The last run is nearly always on the first page.
const journalPage = 20

// endedAbnormally reports whether the task's previous run, on any host, ended abnormally. It returns true if this is
// unknown. permit is the current run's permit.
func (m *Manager) endedAbnormally(ctx context.Context, permit *client.Permit) bool {
	if permit == nil {
		return false // the run is unguarded, because no server responded
	}
	ctx, cancel := context.WithTimeout(ctx, client.DefaultOutageLimit)
	defer cancel()
	abnormal, err := m.lastRun(ctx, permit)
	if err != nil {
		m.settings.logger.Warn("gatekeeper: cannot determine how the task's last run ended", "semaphore", permit.Semaphore(), "error", err)
		return true
	}
	return abnormal
}

// lastRun searches the journal, newest entry first, for the last run of the task before the one under the given permit.
// It reports whether that run ended abnormally, and returns false if there was none.
func (m *Manager) lastRun(ctx context.Context, permit *client.Permit) (abnormal bool, err error) {
	req := &gatekeeperv1.ListHistoryRequest{Names: []string{permit.Semaphore()}, Permits: true, PageSize: journalPage}
	task, _ := permit.Firing()
	for {
		page, err := m.client.Operator().ListHistory(ctx, req)
		if err != nil {
			return false, err
		}
		for _, entry := range page.GetEntries() {
			p := entry.GetPermit()
			if p == nil || p.GetToken() >= permit.Token() || p.GetFiring().GetName() != task {
				continue
			}
			if began, abnormal, err := m.endOfRun(ctx, entry.GetKind(), p); began || err != nil {
				return abnormal, err
			}
		}
		if req.PageToken = page.GetNextPageToken(); req.PageToken == "" {
			return false, nil
		}
	}
}

// endOfRun reports whether a permit's journal entry marks the end of a run, and whether the run ended abnormally.
func (m *Manager) endOfRun(ctx context.Context, kind gatekeeperv1.EventKind, p *gatekeeperv1.Permit) (began, abnormal bool, err error) {
	switch kind {
	case gatekeeperv1.EventKind_EVENT_KIND_EXPIRED, gatekeeperv1.EventKind_EVENT_KIND_HELD, gatekeeperv1.EventKind_EVENT_KIND_CLEARED,
		gatekeeperv1.EventKind_EVENT_KIND_FREED_UNSAFELY, gatekeeperv1.EventKind_EVENT_KIND_SUPERSEDED:
		return true, true, nil
	case gatekeeperv1.EventKind_EVENT_KIND_RELEASED:
		if p.GetStop() == gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER {
			return true, true, nil
		}
		return m.released(ctx, p)
	default:
		return false, false, nil
	}
}

// released reports whether a run started under a released permit, and whether the run ended abnormally. The permit's
// firing shows both.
func (m *Manager) released(ctx context.Context, p *gatekeeperv1.Permit) (began, abnormal bool, err error) {
	f := p.GetFiring()
	due := f.GetDue().AsTime()
	r, err := m.client.Operator().ListFirings(ctx, &gatekeeperv1.ListFiringsRequest{
		Semaphore: p.GetSemaphore(), Name: f.GetName(), DueAfter: timestamppb.New(due.Add(-time.Nanosecond)), PageSize: 1,
	})
	if err != nil {
		return false, false, err
	}
	if len(r.GetFirings()) == 0 || !r.GetFirings()[0].GetFiring().GetDue().AsTime().Equal(due) {
		return false, false, nil // the firing is no longer claimed: nothing ran
	}
	claim := r.GetFirings()[0]
	if claim.GetToken() != p.GetToken() { // it has since been claimed again: nothing ran, or the run was cut short
		reclaimed := claim.GetAttempts() != 1
		return reclaimed, reclaimed, nil
	}
	return true, claim.GetState() != gatekeeperv1.FiringState_FIRING_STATE_DONE, nil
}
