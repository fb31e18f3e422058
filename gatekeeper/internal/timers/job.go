package timers

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// SubmissionTimeout is how long an unfinished submission waits for its next tasks before it is dropped.
const SubmissionTimeout = time.Minute

// addJob adds a job's timers. The timeouts for a job and for a submission are durations. A finished job's retention
// ends at a point in time. A job that is retried after it has finished gets its full timeout again. An unfinished
// submission is identified by its number of tasks, because its job's revision also changes when its submitter acquires
// again.
func (t *Timers) addJob(state *fsm.State, j *work.Job, now time.Time) {
	switch {
	case j.State == work.Receiving:
		t.add(end{kind: submissionEnd, change: uint64(j.Tasks), job: j.Number}, t.startOf(j.Revision, now).Add(SubmissionTimeout), time.Time{})
	case j.State == work.Open && j.Timeout > 0:
		t.add(end{kind: jobTimeout, job: j.Number}, now.Add(j.Timeout), time.Time{})
	case j.Finished():
		delete(t.known, end{kind: jobTimeout, job: j.Number})
		retention := end{kind: jobRetention, change: j.Revision, job: j.Number}
		if j.EndedAt.IsZero() { // the command that cancelled it had no timestamp
			t.add(retention, t.startOf(j.Revision, now).Add(j.RetentionOrDefault()), time.Time{})
		} else {
			t.add(retention, time.Time{}, j.EndedAt.Add(j.RetentionOrDefault()))
		}
		if own := state.OwnSemaphore(j); own != nil {
			t.add(end{kind: ownSemaphoreEnd, change: own.Version, name: j.Own, job: j.Number}, now, time.Time{})
		}
	}
}
