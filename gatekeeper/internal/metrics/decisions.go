package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// decisions counts the outcomes of acquires and refreshes.
type decisions struct {
	byOutcome [semaphore.Reacquired + 1]prometheus.Counter // by outcome; nil for Denied
	denied    [semaphore.NoFreePermit + 1]prometheus.Counter
	refreshed [keeper.StatusRetry + 1]prometheus.Counter
}

func (d *decisions) collector() prometheus.Collector {
	decided := counterVec("decisions_total",
		"Acquires answered by the leader, by outcome and, if denied, by reason.", "outcome", "reason")
	for _, o := range []semaphore.Outcome{semaphore.Granted, semaphore.Refreshed, semaphore.Reacquired} {
		d.byOutcome[o] = decided.WithLabelValues(o.String(), "")
	}
	for r := semaphore.NoSuchSemaphore; r <= semaphore.NoFreePermit; r++ {
		d.denied[r] = decided.WithLabelValues(semaphore.Denied.String(), r.String())
	}
	refreshed := counterVec("refreshes_total", "Refreshes of single tokens answered by the leader, by result.", "status")
	for status, name := range map[keeper.Status]string{
		keeper.StatusRefreshed: "refreshed", keeper.StatusStopping: "stopping", keeper.StatusLost: "lost", keeper.StatusRetry: "retry",
	} {
		d.refreshed[status] = refreshed.WithLabelValues(name)
	}
	return group{decided, refreshed}
}

// Decided counts the outcome of an acquire.
func (m *Metrics) Decided(outcome semaphore.Outcome, reason semaphore.Reason) {
	if outcome == semaphore.Denied {
		inc(m.decisions.denied[:], int(reason))
		return
	}
	inc(m.decisions.byOutcome[:], int(outcome))
}

// Refreshed counts the result of refreshing one token.
func (m *Metrics) Refreshed(status keeper.Status) { inc(m.decisions.refreshed[:], int(status)) }

// inc increments the counter at index i, if there is one.
func inc(counters []prometheus.Counter, i int) {
	if i < len(counters) && counters[i] != nil {
		counters[i].Inc()
	}
}

// eventKinds is one more than the highest event kind.
const eventKinds = fsm.BindingChanged + 1

// changes counts applied changes.
type changes struct {
	byKind [eventKinds]prometheus.Counter
}

// kindNames returns the label values of the event kinds.
func kindNames() [eventKinds]string {
	return [...]string{
		fsm.Created: "created", fsm.Replaced: "replaced", fsm.Deleted: "deleted",
		fsm.PausedEvent: "paused", fsm.ResumedEvent: "resumed",
		fsm.CordonedEvent: "cordoned", fsm.UncordonedEvent: "uncordoned",
		fsm.Granted: "granted", fsm.Released: "released", fsm.Expired: "expired", fsm.HeldEvent: "held",
		fsm.CoolingEvent: "cooling", fsm.CoolingEnded: "cooling_ended", fsm.Cleared: "cleared",
		fsm.StoppingEvent: "stopping", fsm.Abandoned: "abandoned",
		fsm.DurationChanged: "duration_changed", fsm.Configured: "configured",
		fsm.DrainedEvent: "drained", fsm.RevertedEvent: "reverted", fsm.MissedEvent: "missed", fsm.HeardEvent: "heard",
		fsm.FreedUnsafely: "freed_unsafely", fsm.QuarantineEnded: "quarantine_ended", fsm.RecoveredEvent: "recovered",
		fsm.SupersededEvent: "superseded", fsm.FiringsForgotten: "firings_forgotten", fsm.FiringsRemembered: "firings_remembered",
		fsm.ClaimsChanged: "claims_changed", fsm.JobSubmitted: "job_submitted", fsm.TaskSettled: "task_settled", fsm.JobCancelled: "job_cancelled",
		fsm.TasksChanged: "tasks_changed", fsm.JobDeleted: "job_deleted",
		fsm.BindingChanged: "binding_changed",
	}
}

func (c *changes) collector() prometheus.Collector {
	applied := counterVec("changes_total",
		"Changes applied while this server was the leader, by kind: edits, grants, releases, expiries and others.", "kind")
	for kind, name := range kindNames() {
		if name != "" {
			c.byKind[kind] = applied.WithLabelValues(name)
		}
	}
	return applied
}

// Applied counts the events of a log entry, if this server leads. It must be subscribed to the state machine.
func (m *Metrics) Applied(a fsm.Applied) {
	s := m.sources.Load()
	if s == nil || s.Leading == nil || len(a.Events) == 0 || !s.Leading() {
		return
	}
	var counts [eventKinds]int // so that each kind takes one addition, not one per event
	for i := range a.Events {
		if kind := a.Events[i].Kind; int(kind) < len(counts) {
			counts[kind]++
		}
	}
	for kind, n := range counts {
		if c := m.changes.byKind[kind]; c != nil && n > 0 {
			c.Add(float64(n))
		}
	}
}
