package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// workCommands returns the feature level 4 commands for jobs and tasks. They are frozen.
func workCommands() []fsm.Command {
	return []fsm.Command{
		fsm.Grant{Semaphore: "s", Identity: identity("w"), Weight: 1, Worker: true, At: at(200)},
		fsm.Release{Token: 7, Result: []byte("42"), At: at(201)},
		fsm.Configure{Settings: fsm.Settings{
			MaxDuration: time.Hour, RememberedRequests: 50,
			Work: work.Limits{TaskBytes: 1 << 10, JobBytes: 1 << 20, SemaphoreBytes: 1 << 24, ClusterBytes: 1 << 25},
		}, At: at(202)},
		fsm.SubmitJob{
			Spec: &work.Spec{
				ID: "count", Semaphore: "s", Labels: semaphore.LabelsOf(map[string]string{"team": "data"}), Author: "ann", Timeout: time.Hour,
				Retention: 2 * time.Hour, Priority: -3, MaxAttempts: 5, MaxResult: 100, RetryFailed: true, Own: "count-submitter",
			},
			Submitter: 6, Tasks: tasks("a", "b"), Digest: digest(), At: at(203),
		},
		fsm.SubmitTasks{Job: 9, Offset: 2, Tasks: tasks("c"), Digest: digest(), At: at(204)},
		fsm.CancelJob{Job: 9, Term: 3, Cause: work.CancelTimeout, Author: "ann", Reason: "too long", At: at(205)},
		fsm.ChangeTasks{Job: 9, Indexes: []uint32{0, 2}, Drop: true, AsOf: 8, At: at(206)},
		fsm.DeleteJob{Job: 9, Term: 3, At: at(207)},
	}
}

// workScenario returns a log with jobs and tasks in every state. It is frozen.
func workScenario(tb tester) *log {
	l := newWorkLog(tb)
	settings := l.state().Settings()
	settings.Work = work.Limits{TaskBytes: 1 << 10, JobBytes: 1 << 20, SemaphoreBytes: 1 << 24, ClusterBytes: 1 << 25}
	l.apply(fsm.Configure{Settings: settings})
	l.define("mine", permits(3), func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(map[string]string{work.OwnLabel: "open"}) })
	bound := l.grant("mine", "submitter")
	l.submit("ended", tasks("a"))
	token, _ := l.takeTask("first")
	l.apply(fsm.Release{Token: token, Result: []byte("42"), At: at(30)})
	cancelled := l.submit("cancelled", tasks("a", "b"))
	l.takeTask("stopped")
	l.apply(fsm.CancelJob{Job: cancelled.Number, Cause: work.CancelRequested, Author: "ann", Reason: "wrong input", At: at(31)})
	l.submit("open", tasks("a", "b", "c", "d", "e", "f", "g"), func(c *fsm.SubmitJob) {
		c.Submitter = bound.Token
		c.Spec.Labels, c.Spec.Author, c.Spec.Timeout = semaphore.LabelsOf(map[string]string{"team": "data"}), "ann", time.Hour
		c.Spec.Retention, c.Spec.Priority, c.Spec.MaxAttempts, c.Spec.Own = 2*time.Hour, -3, 5, "mine"
	})
	var held []uint64
	for _, holder := range []string{"done", "failed", "dropped", "lost", "cools", "holds"} {
		token, _ := l.takeTask(holder)
		held = append(held, token)
	}
	failed := func(token uint64) fsm.Release {
		return fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "exit code 3", Result: []byte("log"), At: at(33)}
	}
	l.apply(fsm.Release{Token: held[0], Result: []byte("r"), At: at(32)}, failed(held[2]))
	l.apply(fsm.ChangeTasks{Job: l.job("open").Number, Drop: true, At: at(34)})
	l.apply(failed(held[1]), fsm.Expire{Token: held[3], Term: l.term}, fsm.Expire{Token: held[4], Term: l.term, Cooling: time.Minute})
	token, _ = l.takeTask("returns")
	l.apply(fsm.Release{Token: token, Job: semaphore.JobCutShort, Failure: "exit code 75", At: at(35)})
	l.submit("receiving", tasks("a"), func(c *fsm.SubmitJob) { c.Digest, c.Spec.RetryFailed = "", true })
	return l
}
