package fsm_test

import (
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func TestSubmit_InChunks_IsVisibleOnlyWhenComplete(t *testing.T) {
	l := newWorkLog(t)
	j := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Digest = "" })
	if l.state().Work("s").Waiting != 0 || j.State != work.Receiving {
		t.Fatalf("incomplete submission: job = %+v, want state receiving and no waiting tasks", j)
	}
	if r := unchanged[fsm.SubmitResult](l, fsm.SubmitTasks{Job: j.Number, Offset: 2, Tasks: tasks("b")}); r.Outcome != fsm.SubmitLost {
		t.Fatalf("chunk after a gap: got %+v, want SubmitLost", r)
	}
	second := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Digest = "" })
	if r := unchanged[fsm.SubmitResult](l, fsm.SubmitTasks{Job: j.Number, Offset: 1, Tasks: tasks("b")}); r.Outcome != fsm.SubmitLost {
		t.Fatalf("chunk of a submission that was restarted: got %+v, want SubmitLost", r)
	}
	if r := applyOne[fsm.SubmitResult](l, fsm.SubmitTasks{Job: second.Number, Offset: 1, Tasks: tasks("b"), Digest: digest()}); r.Job.State != work.Open {
		t.Fatalf("last chunk: got %+v, want an open job", r)
	}
	if w := l.state().Work("s"); w.Waiting != 2 || w.Jobs != 1 {
		t.Fatalf("Work() = %+v, want 2 waiting tasks in 1 job", w)
	}
	if r := unchanged[fsm.SubmitResult](l, fsm.SubmitJob{Spec: j.Spec, Tasks: tasks("z"), Digest: digest()}); r.Outcome != fsm.SubmitExists || r.Job.ID != "j" {
		t.Fatalf("repeated submission: got %+v, want SubmitExists", r)
	}
	dropped := l.submit("k", tasks("a"), func(c *fsm.SubmitJob) { c.Digest = "" })
	if r := unchanged[fsm.SubmitResult](l, fsm.SubmitTasks{Job: dropped.Number, Tasks: tasks("a"), Digest: digest()}); r.Outcome != fsm.SubmitLost {
		t.Fatalf("repeated chunk: got %+v, want SubmitLost", r)
	}
	unchanged[fsm.JobResult](l, fsm.DeleteJob{Job: dropped.Number})
	unchanged[fsm.JobResult](l, fsm.DeleteJob{Job: dropped.Number, Term: l.term - 1})
	if r := applyOne[fsm.JobResult](l, fsm.DeleteJob{Job: dropped.Number, Term: l.term}); !r.Applied || l.job("k") != nil {
		t.Fatalf("DeleteJob of an unfinished submission: got %+v, want it deleted", r)
	}
}

func TestSubmit_AboveLimit_ReportsLimit(t *testing.T) {
	l := newWorkLog(t)
	settings := l.state().Settings()
	settings.Work = work.Limits{TaskBytes: 100, JobBytes: 150, SemaphoreBytes: 4000, ClusterBytes: 5000}
	l.apply(fsm.Configure{Settings: settings})
	l.define("t")
	long := strings.Repeat("x", 100)
	for limit, c := range map[string]fsm.SubmitJob{
		"max_task_bytes":           {Spec: &work.Spec{ID: "j", Semaphore: "s"}, Tasks: tasks(long + "x")},
		"max_job_bytes":            {Spec: &work.Spec{ID: "j", Semaphore: "s"}, Tasks: tasks(long, long)},
		"max_semaphore_work_bytes": {Spec: &work.Spec{ID: "j", Semaphore: "s", MaxResult: 100}, Tasks: tasks("", "", "", "", "", "")},
	} {
		c.Digest = digest()
		if r := unchanged[fsm.SubmitResult](l, c); r.Outcome != fsm.SubmitLimit || r.Limit.Limit != limit {
			t.Errorf("SubmitJob above %s: got %+v, want SubmitLimit", limit, r)
		}
	}
	l.submit("j", tasks("", "", "", "", ""), func(c *fsm.SubmitJob) { c.Spec.MaxResult = 100 })
	r := unchanged[fsm.SubmitResult](l, fsm.SubmitJob{Spec: &work.Spec{ID: "k", Semaphore: "t"}, Tasks: tasks("", ""), Digest: digest()})
	if r.Outcome != fsm.SubmitLimit || r.Limit.Limit != "max_work_bytes" {
		t.Fatalf("SubmitJob above max_work_bytes: got %+v, want SubmitLimit", r)
	}
}

// Submitting a finished job's id again returns that job and does not rerun its tasks, whatever their outcomes.
func TestSubmit_FinishedJob_IsNotRunAgain(t *testing.T) {
	l := newWorkLog(t)
	for id, end := range map[string]func(token, job uint64) fsm.Command{
		"done": func(token, _ uint64) fsm.Command { return fsm.Release{Token: token, Result: []byte("r")} },
		"failed": func(token, _ uint64) fsm.Command {
			return fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "f"}
		},
		"cancelled": func(_, job uint64) fsm.Command { return fsm.CancelJob{Job: job, Cause: work.CancelRequested} },
	} {
		j := l.submit(id, tasks("a"))
		token, _ := l.takeTask(id)
		l.apply(end(token, j.Number))
		r := unchanged[fsm.SubmitResult](l, fsm.SubmitJob{Spec: j.Spec, Tasks: tasks("a"), Digest: digest()})
		if r.Outcome != fsm.SubmitExists || r.Job.Number != j.Number {
			t.Errorf("SubmitJob with the id of the %s job: got %+v, want SubmitExists", id, r)
		}
	}
}

func TestSubmit_LimitReachedMidway_RefusesOnlyThatChunk(t *testing.T) {
	l := newWorkLog(t)
	settings := l.state().Settings()
	settings.Work = work.Limits{JobBytes: 5, SemaphoreBytes: 1024 + 3*512}
	l.apply(fsm.Configure{Settings: settings})
	submitPartial := func(id string, payloads ...string) *work.Job {
		return l.submit(id, tasks(payloads...), func(c *fsm.SubmitJob) { c.Digest, c.Spec.MaxResult = "", 0 })
	}
	for limit, chunk := range map[string][][]byte{
		"max_job_bytes": tasks("def"), "max_semaphore_work_bytes": tasks("", "", ""),
	} {
		j := submitPartial("j", "abc")
		r := unchanged[fsm.SubmitResult](l, fsm.SubmitTasks{Job: j.Number, Offset: 1, Tasks: chunk, Digest: digest()})
		if r.Outcome != fsm.SubmitLimit || r.Limit.Limit != limit || r.Job.Tasks != 1 {
			t.Fatalf("SubmitTasks above %s: got %+v, want SubmitLimit", limit, r)
		}
	}
	// A new submission with the same id can use the space reserved by the unfinished one.
	if r := applyOne[fsm.SubmitResult](l, fsm.SubmitJob{Spec: l.job("j").Spec, Tasks: tasks("a"), Digest: digest()}); r.Outcome != fsm.SubmitAccepted {
		t.Fatalf("submission after the refusal: got %+v, want SubmitAccepted", r)
	}
}

func TestSubmit_OwnSemaphore_MustBeLabelledAndHeldBySubmitter(t *testing.T) {
	l := newWorkLog(t)
	l.define("made", func(d *semaphore.Definition) { d.Labels = semaphore.LabelsOf(map[string]string{work.OwnLabel: "j"}) })
	l.define("other")
	made, other := l.grant("made", "submitter"), l.grant("other", "submitter")
	for _, bad := range []struct {
		own   string
		token uint64
	}{{"other", other.Token}, {"made", other.Token}, {"made", 0}} {
		c := fsm.SubmitJob{Spec: &work.Spec{ID: "j", Semaphore: "s", Own: bad.own}, Submitter: bad.token, Tasks: tasks("a"), Digest: digest()}
		unchanged[fsm.InvalidResult](l, c)
	}
	j := l.submit("j", tasks("a"), func(c *fsm.SubmitJob) { c.Submitter, c.Spec.Own = made.Token, "made" })
	if sd := l.state().OwnSemaphore(j); sd == nil || sd.Definition.Name != "made" {
		t.Fatalf("OwnSemaphore() = %+v, want semaphore made", sd)
	}
}

func TestSubmitter_PermitEnds_CancelsJobs(t *testing.T) {
	l := newWorkLog(t)
	l.define("mine")
	p := l.grant("mine", "submitter", requestID("1"))
	bound := func(c *fsm.SubmitJob) { c.Submitter = p.Token }
	l.submit("j", tasks("a"), bound)
	l.submit("half", tasks("a"), bound, func(c *fsm.SubmitJob) { c.Digest = "" })
	l.submit("kept", tasks("a"))
	second := l.request("mine", "submitter", requestID("2"))
	second.Supersedes = p.Token
	r := applyOne[fsm.GrantResult](l, second)
	if r.Outcome != fsm.GrantReacquired || l.job("j").State != work.Open || l.job("j").Submitter != r.Permit.Token {
		t.Fatalf("reacquire by the submitter: got %+v, job %+v", r, l.job("j"))
	}
	expire := fsm.Expire{Token: r.Permit.Token, Term: l.term, At: at(9)}
	restarted := restored(t, l.state())
	if _, err := restarted.Apply(l.index+1, l.term, encode(t, []fsm.Command{expire})); err != nil {
		t.Fatal(err)
	}
	if j := restarted.State().Job("j"); j.State != work.Cancelled {
		t.Fatalf("after a restart: job whose submitter's permit ended = %+v, want it cancelled", j)
	}
	l.apply(expire)
	if j := l.job("j"); j.State != work.Cancelled || j.Cancel.Cause != work.CancelSubmitterGone {
		t.Fatalf("job whose submitter's permit ended = %+v, want it cancelled", j)
	}
	if l.job("half") != nil || l.job("kept").State != work.Open {
		t.Fatalf("unfinished submission = %+v, other job = %+v, want nil and an open job", l.job("half"), l.job("kept"))
	}
	if r := unchanged[fsm.SubmitResult](l, fsm.SubmitJob{Spec: &work.Spec{ID: "z", Semaphore: "s"}, Submitter: p.Token, Tasks: tasks("a"), Digest: digest()}); r.Outcome != fsm.SubmitNoSubmitter {
		t.Fatalf("SubmitJob with the token of an ended permit: got %+v, want SubmitNoSubmitter", r)
	}
}
