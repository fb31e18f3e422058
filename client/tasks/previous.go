package tasks

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// pastPermits is how many ended permits are looked at. Those before the last one are of interest only if nothing ran under it.
const pastPermits = 20

// endedAbnormally reports whether the last run before that of permit ended abnormally, on whatever host. It is true if that is not known.
func (m *Manager) endedAbnormally(ctx context.Context, permit *client.Permit) bool {
	if permit == nil {
		return false // the run is unguarded: no server answers
	}
	ctx, cancel := context.WithTimeout(ctx, client.DefaultOutageLimit)
	defer cancel()
	abnormal, err := m.lastRun(ctx, permit)
	if err != nil {
		m.settings.logger.Warn("gatekeeper: how the last run of the task ended is not known", "semaphore", permit.Semaphore(), "error", err)
		return true
	}
	return abnormal
}

// lastRun looks at the ends of permits, the newest first, for the last one under which a run began.
func (m *Manager) lastRun(ctx context.Context, permit *client.Permit) (abnormal bool, err error) {
	journal, err := m.client.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{
		Names: []string{permit.Semaphore()}, Permits: true, PageSize: pastPermits,
	})
	if err != nil {
		return false, err
	}
	for _, entry := range journal.GetEntries() {
		p := entry.GetPermit()
		if p == nil || p.GetToken() >= permit.Token() {
			continue
		}
		switch entry.GetKind() {
		case gatekeeperv1.EventKind_EVENT_KIND_EXPIRED, gatekeeperv1.EventKind_EVENT_KIND_HELD, gatekeeperv1.EventKind_EVENT_KIND_CLEARED,
			gatekeeperv1.EventKind_EVENT_KIND_FREED_UNSAFELY, gatekeeperv1.EventKind_EVENT_KIND_SUPERSEDED:
			return true, nil
		case gatekeeperv1.EventKind_EVENT_KIND_RELEASED:
			if p.GetStop() == gatekeeperv1.StopCause_STOP_CAUSE_TAKEN_OVER {
				return true, nil
			}
			if began, abnormal, err := m.released(ctx, p); began || err != nil {
				return abnormal, err
			}
		default:
		}
	}
	return journal.GetNextPageToken() != "", nil // nothing ran before, or it is not known
}

// released reports, of a permit that was released, whether a run began under it, and whether that ended abnormally: its firing says so.
func (m *Manager) released(ctx context.Context, p *gatekeeperv1.Permit) (began, abnormal bool, err error) {
	f := p.GetFiring()
	if f.GetDue() == nil {
		return true, false, nil // of somebody who runs no task
	}
	r, err := m.client.Operator().ListFirings(ctx, &gatekeeperv1.ListFiringsRequest{
		Semaphore: p.GetSemaphore(), Name: f.GetName(), DueAfter: timestamppb.New(f.GetDue().AsTime().Add(-time.Nanosecond)), PageSize: 1,
	})
	if err != nil || len(r.GetFirings()) == 0 {
		return false, false, err
	}
	switch claim := r.GetFirings()[0]; {
	case !claim.GetFiring().GetDue().AsTime().Equal(f.GetDue().AsTime()):
		return false, false, nil // not claimed any more: nothing ran
	case claim.GetToken() != p.GetToken(): // claimed again since: nothing ran, or it was cut short
		return claim.GetAttempts() != 1, claim.GetAttempts() != 1, nil
	default:
		return true, claim.GetState() != gatekeeperv1.FiringState_FIRING_STATE_DONE, nil
	}
}
