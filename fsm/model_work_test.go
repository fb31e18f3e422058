package fsm_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// This file models jobs. They are kept in a slice, and each has a slice of tasks. Counts and totals are computed on
// demand.

type modelJob struct {
	work.Job // without counts
	tasks    []modelTask
	payload  uint64
}

type modelTask struct {
	work.Task
	handedOut bool // handed out at least once
}

// view returns the job with its counts filled in.
func (j *modelJob) view() *work.Job {
	v := j.Job
	v.Tasks, v.Payload, v.Bytes = uint32(len(j.tasks)), j.payload, 1024
	v.Fresh, v.Returned, v.Held, v.Done, v.Failed, v.Dropped = 0, 0, 0, 0, 0, 0
	for i := range j.tasks {
		t := &j.tasks[i]
		v.Bytes += j.storedBytes(t)
		if !t.handedOut {
			continue
		}
		v.Fresh++
		switch t.State {
		case work.Waiting:
			v.Returned++
		case work.Held:
			v.Held++
		case work.Done:
			v.Done++
		case work.Failed:
			v.Failed++
		default:
			v.Dropped++
		}
	}
	return &v
}

func (j *modelJob) storedBytes(t *modelTask) uint64 {
	n := 256 + uint64(len(t.Payload))
	if t.State == work.Waiting || t.State == work.Held {
		return n + max(uint64(j.MaxResult), 256)
	}
	return n + uint64(len(t.Result)) + uint64(len(t.Failure))
}

func (j *modelJob) waiting() (n uint64) {
	for _, t := range j.tasks {
		if j.State == work.Open && t.State == work.Waiting {
			n++
		}
	}
	return n
}

func (m *model) jobByNumber(number uint64) *modelJob {
	for i := range m.jobs {
		if m.jobs[i].Number == number {
			return &m.jobs[i]
		}
	}
	return nil
}

func (m *model) jobByID(id string) *modelJob {
	for i := range m.jobs {
		if m.jobs[i].ID == id {
			return &m.jobs[i]
		}
	}
	return nil
}

func (m *model) taskOf(token uint64) (*modelJob, *modelTask) {
	for i := range m.jobs {
		for k := range m.jobs[i].tasks {
			if t := &m.jobs[i].tasks[k]; token != 0 && t.Token == token {
				return &m.jobs[i], t
			}
		}
	}
	return nil, nil
}

func (m *model) carriesTask(token uint64) bool {
	_, t := m.taskOf(token)
	return t != nil
}

// nextTask returns the next task to hand out. It searches all tasks.
func (m *model) nextTask(sem string) (best *modelJob, first *modelTask) {
	for i := range m.jobs {
		j := &m.jobs[i]
		for k := range j.tasks {
			t := &j.tasks[k]
			if j.Semaphore != sem || j.State != work.Open || t.State != work.Waiting {
				continue
			}
			if best == nil || cmp.Or(cmp.Compare(best.Priority, j.Priority), cmp.Compare(j.Submitted, best.Submitted), cmp.Compare(t.Index, first.Index)) < 0 {
				best, first = j, t
			}
		}
	}
	return best, first
}

func (m *model) workSums(sem string) (w fsm.Work) {
	for i := range m.jobs {
		if j := &m.jobs[i]; sem == "" || j.Semaphore == sem {
			v := j.view()
			w.Jobs++
			w.Bytes += v.Bytes
			w.Held += uint64(v.Held)
			w.Waiting += j.waiting()
		}
	}
	return w
}

func describeJob(kind fsm.EventKind, j *work.Job, t *work.Task) string {
	s := fmt.Sprintf("%d: job %d %s in state %d", kind, j.Number, j.ID, j.State)
	if t != nil {
		s += fmt.Sprintf(", task %d in state %d %q", t.Index, t.State, t.Result)
	}
	return s
}

func (m *model) emit(kind fsm.EventKind, j *modelJob, t *modelTask) {
	if t == nil {
		m.jobEvents = append(m.jobEvents, describeJob(kind, &j.Job, nil))
	} else {
		m.jobEvents = append(m.jobEvents, describeJob(kind, &j.Job, &t.Task))
	}
}

func (m *model) handOut(sem string, token uint64) (*work.Job, *work.Task) {
	j, t := m.nextTask(sem)
	t.handedOut, t.State, t.Token, t.Revision = true, work.Held, token, m.revision
	t.Attempts++
	j.Revision = m.revision
	m.emit(fsm.Granted, j, t)
	held := t.Task
	return j.view(), &held
}

// settleTask updates the task of a permit that is ending.
func (m *model) settleTask(p *semaphore.Permit, outcome semaphore.End, job semaphore.JobEnd, cooling time.Duration, at time.Time) {
	j, t := m.taskOf(p.Token)
	if t == nil || t.State != work.Held {
		return
	}
	released := outcome == semaphore.EndReleased
	lost := outcome == semaphore.EndExpired || outcome == semaphore.EndCleared || outcome == semaphore.EndFreedUnsafely
	spent := t.Attempts >= cmp.Or(j.MaxAttempts, 3)
	if cooling > 0 && (lost && !spent || released && p.OldTokensInUse && job == semaphore.JobCutShort) {
		return // the worker may still be running
	}
	switch {
	case lost && spent:
		t.State, t.Failure = work.Failed, fmt.Sprintf("its worker's permit was lost on attempt %d of %d", t.Attempts, t.Attempts)
	case lost:
		t.State = work.Waiting
	case !released || job == semaphore.JobNotRun || job == semaphore.JobCutShort:
		t.State = work.Waiting
		t.Attempts--
		t.Returns++
		if released && m.report.Failure != "" {
			t.Failure = m.report.Failure
		}
	default:
		m.applyReport(j, t, job, spent)
	}
	m.taskUpdated(j, t, at)
}

func (m *model) applyReport(j *modelJob, t *modelTask, job semaphore.JobEnd, spent bool) {
	switch {
	case job == semaphore.JobDone:
		t.State, t.Payload, t.Result, t.Failure = work.Done, nil, m.report.Result, ""
	case j.RetryFailed && !spent:
		t.State, t.Failure = work.Waiting, m.report.Failure
	default:
		t.State, t.Result, t.Failure = work.Failed, m.report.Result, m.report.Failure
		if len(t.Result)+len(t.Failure) > max(int(j.MaxResult), 256) {
			t.Result = nil
		}
	}
}

func (m *model) taskUpdated(j *modelJob, t *modelTask, at time.Time) {
	t.Revision, j.Revision = m.revision, m.revision
	open := slices.ContainsFunc(j.tasks, func(t modelTask) bool { return t.State == work.Waiting || t.State == work.Held })
	if j.State == work.Open && !open {
		j.State, j.EndedAt = work.Ended, at
	}
	m.emit(fsm.TaskSettled, j, t)
}

func (m *model) settleLate(c fsm.Release) uint64 {
	j, t := m.taskOf(c.Token)
	if t == nil || c.Job != semaphore.JobDone && c.Job != semaphore.JobFailed {
		return 0
	}
	if t.State != work.Held && (t.State != work.Waiting || j.State == work.Cancelled) {
		return 0
	}
	spent := t.Attempts >= cmp.Or(j.MaxAttempts, 3)
	if t.State == work.Waiting && c.Job == semaphore.JobFailed && j.RetryFailed && !spent {
		return 0
	}
	m.revision++
	m.applyReport(j, t, c.Job, spent)
	m.taskUpdated(j, t, c.At)
	return m.revision
}

func (m *model) reported(c fsm.Release, r fsm.ReleaseResult) fsm.Result {
	done, failed := c.Job == semaphore.JobDone, c.Job == semaphore.JobFailed
	repeat := r.Ended != nil && r.Ended.Outcome == semaphore.EndReleased
	if _, t := m.taskOf(c.Token); t != nil {
		now := t.Task
		r.Task = &now
		same := failed && t.Failure == c.Failure
		r.Recorded = done && t.State == work.Done || same && (t.State == work.Failed || t.State == work.Dropped) ||
			same && t.State == work.Waiting && (c.Failure != "" || r.Released || repeat)
		return r
	}
	r.Recorded = (done || failed) && repeat
	return r
}

func (m *model) hasInvalidResult(c fsm.Release) bool {
	j, t := m.taskOf(c.Token)
	return t != nil && len(c.Result) > 0 &&
		(len(c.Result) > int(j.MaxResult) || c.Job == semaphore.JobNotRun || c.Job == semaphore.JobCutShort)
}

func (m *model) submitterEnded(token uint64, at time.Time) {
	for _, j := range slices.Clone(m.jobs) {
		if j.Submitter != token {
			continue
		}
		switch j.State {
		case work.Receiving:
			m.removeJob(m.jobByNumber(j.Number))
		case work.Open:
			m.cancelJob(m.jobByNumber(j.Number), work.Cancel{Cause: work.CancelSubmitterGone}, at)
		default:
		}
	}
}

func (m *model) submitterSuperseded(old, now uint64) {
	for i := range m.jobs {
		j := &m.jobs[i]
		if finished := j.State == work.Ended || j.State == work.Cancelled && j.view().Held == 0; j.Submitter == old && !finished {
			j.Submitter, j.Revision = now, m.revision
		}
	}
}

func (m *model) removeJob(j *modelJob) {
	m.emit(fsm.JobDeleted, j, nil)
	m.jobs = slices.DeleteFunc(m.jobs, func(o modelJob) bool { return o.Number == j.Number })
}

func (m *model) cancelJob(j *modelJob, cause work.Cancel, at time.Time) {
	j.State, j.Cancel, j.EndedAt, j.Revision = work.Cancelled, &cause, at, m.revision
	m.emit(fsm.JobCancelled, j, nil)
	for i := range m.permits {
		p := &m.permits[i]
		owner, t := m.taskOf(p.Token)
		if p.State == semaphore.Live && owner != nil && owner.Number == j.Number && t.State == work.Held && (p.Stop == 0 || p.StopOrder().Drain > 0) {
			p.Stop, p.Order = semaphore.StopTaskCancelled, &semaphore.StopOrder{Reason: cause.Reason, Revision: m.revision}
		}
	}
}

// exceededLimit returns the limit that the payloads would exceed, or nil.
func (m *model) exceededLimit(s *work.Spec, before *modelJob, drops *modelJob, payloads [][]byte) *work.LimitError {
	l := m.settings.Work.OrDefault()
	sum, added := uint64(0), uint64(1024)
	if before != nil {
		sum, added = before.payload, 0
	}
	if uint64(s.MaxResult) > l.TaskBytes {
		return &work.LimitError{Limit: "max_task_bytes"}
	}
	for _, p := range payloads {
		if uint64(len(p)) > l.TaskBytes {
			return &work.LimitError{Limit: "max_task_bytes"}
		}
		sum += uint64(len(p))
		added += 256 + uint64(len(p)) + max(uint64(s.MaxResult), 256)
	}
	if sum > l.JobBytes {
		return &work.LimitError{Limit: "max_job_bytes"}
	}
	sem, all := m.workSums(s.Semaphore).Bytes, m.workSums("").Bytes
	if drops != nil {
		all -= drops.view().Bytes
		if drops.Semaphore == s.Semaphore {
			sem -= drops.view().Bytes
		}
	}
	return m.exceededTotals(added, sem, all)
}

func (m *model) exceededTotals(added, sem, all uint64) *work.LimitError {
	l := m.settings.Work.OrDefault()
	switch {
	case sem+added > l.SemaphoreBytes:
		return &work.LimitError{Limit: "max_semaphore_work_bytes"}
	case all+added > l.ClusterBytes:
		return &work.LimitError{Limit: "max_work_bytes"}
	}
	return nil
}

func (m *model) work(cmd fsm.Command) fsm.Result {
	switch c := cmd.(type) {
	case fsm.SubmitJob:
		return m.submitJob(c)
	case fsm.SubmitTasks:
		j := m.jobByNumber(c.Job)
		if j == nil {
			return fsm.SubmitResult{Outcome: fsm.SubmitLost}
		}
		if j.State != work.Receiving || int(c.Offset) != len(j.tasks) {
			return fsm.SubmitResult{Outcome: fsm.SubmitLost, Job: j.view()}
		}
		if c.Digest != "" && len(c.Digest) != 32 || len(c.Tasks) == 0 && c.Digest == "" {
			return fsm.InvalidResult{}
		}
		if limit := m.exceededLimit(j.Spec, j, nil, c.Tasks); limit != nil {
			return fsm.SubmitResult{Outcome: fsm.SubmitLimit, Job: j.view(), Limit: limit}
		}
		m.revision++
		return m.receive(j, c.Tasks, c.Digest, c.At)
	case fsm.CancelJob:
		j := m.jobByNumber(c.Job)
		if j == nil {
			return fsm.JobResult{}
		}
		if c.Term != 0 && c.Term != m.term || j.State != work.Open {
			return fsm.JobResult{Job: j.view()}
		}
		m.revision++
		m.cancelJob(j, work.Cancel{Cause: c.Cause, Author: c.Author, Reason: c.Reason}, c.At)
		return fsm.JobResult{Applied: true, Job: j.view()}
	case fsm.ChangeTasks:
		return m.changeTasks(c)
	case fsm.DeleteJob:
		j := m.jobByNumber(c.Job)
		if j == nil {
			return fsm.JobResult{}
		}
		v := j.view()
		finished := j.State == work.Ended || j.State == work.Cancelled && v.Held == 0 || j.State == work.Receiving && c.Term != 0
		if c.Term != 0 && c.Term != m.term || !finished {
			return fsm.JobResult{Job: v}
		}
		m.revision++
		m.removeJob(j)
		return fsm.JobResult{Applied: true, Job: v}
	}
	panic("the model does not support this job command")
}

func (m *model) submitJob(c fsm.SubmitJob) fsm.Result {
	if c.Spec.ID == "" || c.Digest != "" && len(c.Digest) != 32 || len(c.Tasks) == 0 {
		return fsm.InvalidResult{}
	}
	before := m.jobByID(c.Spec.ID)
	if before != nil && (before.State != work.Receiving || before.Principal != c.Spec.Principal) {
		return fsm.SubmitResult{Outcome: fsm.SubmitExists, Job: before.view()}
	}
	if m.definition(c.Spec.Semaphore) == nil {
		return fsm.SubmitResult{Outcome: fsm.SubmitNoSemaphore}
	}
	if p := m.permit(c.Submitter); c.Submitter != 0 && (p == nil || p.State != semaphore.Live) {
		return fsm.SubmitResult{Outcome: fsm.SubmitNoSubmitter}
	}
	if limit := m.exceededLimit(c.Spec, nil, before, c.Tasks); limit != nil {
		return fsm.SubmitResult{Outcome: fsm.SubmitLimit, Limit: limit}
	}
	m.revision++
	if before != nil {
		m.removeJob(before)
	}
	m.jobs = append(m.jobs, modelJob{Job: work.Job{
		Spec: c.Spec, Number: m.revision, State: work.Receiving, Submitter: c.Submitter, SubmittedAt: c.At,
	}})
	return m.receive(&m.jobs[len(m.jobs)-1], c.Tasks, c.Digest, c.At)
}

func (m *model) receive(j *modelJob, payloads [][]byte, digest string, at time.Time) fsm.Result {
	for _, p := range payloads {
		j.tasks = append(j.tasks, modelTask{Task: work.Task{
			Ref: work.Ref{Job: j.Number, Index: uint32(len(j.tasks))}, State: work.Waiting, Revision: m.revision, Payload: p,
		}})
		j.payload += uint64(len(p))
	}
	j.Revision = m.revision
	if digest != "" {
		j.State, j.Digest, j.Submitted, j.SubmittedAt = work.Open, digest, m.revision, at
	}
	m.emit(fsm.JobSubmitted, j, nil)
	return fsm.SubmitResult{Outcome: fsm.SubmitAccepted, Job: j.view()}
}

func (m *model) changeTasks(c fsm.ChangeTasks) fsm.Result {
	j := m.jobByNumber(c.Job)
	if j == nil {
		return fsm.JobResult{}
	}
	var n uint32
	after := *j
	after.tasks = slices.Clone(j.tasks)
	for i := range after.tasks {
		t := &after.tasks[i]
		if t.State != work.Failed || len(c.Indexes) > 0 && !slices.Contains(c.Indexes, t.Index) || c.AsOf != 0 && t.Revision > c.AsOf {
			continue
		}
		n++
		t.Revision, t.Result = m.revision+1, nil
		if c.Drop {
			t.State, t.Payload = work.Dropped, nil
		} else {
			t.State, t.Attempts, t.Returns, t.Token = work.Waiting, 0, 0, 0
		}
	}
	if n == 0 || j.State != work.Open && j.State != work.Ended {
		return fsm.JobResult{Job: j.view()}
	}
	if prev, next := j.view().Bytes, after.view().Bytes; next > prev {
		if limit := m.exceededTotals(next-prev, m.workSums(j.Semaphore).Bytes, m.workSums("").Bytes); limit != nil {
			return fsm.JobResult{Job: j.view(), Limit: limit}
		}
	}
	m.revision++
	if !c.Drop {
		after.State, after.EndedAt = work.Open, time.Time{}
		if p := m.permit(after.Submitter); p == nil || p.State == semaphore.Cooling {
			after.Submitter = 0
		}
	}
	after.Revision = m.revision
	*j = after
	m.emit(fsm.TasksChanged, j, nil)
	return fsm.JobResult{Applied: true, Job: j.view(), Tasks: n}
}

// The methods below generate job commands.

// firstDefinition returns a command that defines a semaphore for jobs, usually with on_expiry: free.
func (d draw) firstDefinition() fsm.Command {
	name := pick(d, "name", modelSemaphores[:2]...)
	kind := fsm.Create
	if d.m.definition(name) != nil {
		kind = fsm.Declare
	}
	return edits(fsm.Change{Kind: kind, Name: name, Definition: definition(name, permits(4), func(def *semaphore.Definition) {
		def.OnExpiry = pick(d, "on expiry", semaphore.OnExpiryFree, semaphore.OnExpiryFree, semaphore.OnExpiryHold)
	})})
}

// definedName draws the name of an existing semaphore, or any name.
func (d draw) definedName() string {
	if n := len(d.m.definitions); n > 0 && d.likely("an existing semaphore") {
		return d.m.definitions[rapid.IntRange(0, n-1).Draw(d.T, "definition")].Definition.Name
	}
	return d.name()
}

func (d draw) workLimits() work.Limits {
	if d.m.level < 4 {
		return work.Limits{}
	}
	return pick(d, "work limits", work.Limits{}, work.Limits{}, work.Limits{TaskBytes: 3, JobBytes: 4, SemaphoreBytes: 2400, ClusterBytes: 3700})
}

func (d draw) payloads() [][]byte {
	return rapid.SliceOfN(rapid.SampledFrom([][]byte{nil, []byte("a"), []byte("bb"), []byte("cccc")}), 0, 4).Draw(d.T, "payloads")
}

func (d draw) digest() string {
	if !d.likely("a valid digest") {
		return "short"
	}
	return pick(d, "digest", strings.Repeat("d", 32), strings.Repeat("d", 32), "")
}

// jobNumber draws the number of an existing job, or any number.
func (d draw) jobNumber() uint64 {
	if n := len(d.m.jobs); n > 0 && d.likely("an existing job") {
		return d.m.jobs[rapid.IntRange(0, n-1).Draw(d.T, "job")].Number
	}
	return rapid.Uint64Range(0, d.m.revision+1).Draw(d.T, "job number")
}

func (d draw) workCommand() fsm.Command {
	switch pick(d, "work", "submit", "submit", "chunk", "worker", "worker", "worker", "worker", "release", "release", "expire", "cancel", "change", "delete") {
	case "submit":
		c := fsm.SubmitJob{Spec: &work.Spec{
			ID: pick(d, "job id", "j", "k", "l", "m"), Semaphore: d.definedName(), Priority: pick[int32](d, "priority", 0, 0, 1, -1),
			MaxAttempts: pick[uint32](d, "attempts", 0, 1, 2), MaxResult: pick[uint32](d, "max result", 2, 257), RetryFailed: rapid.Bool().Draw(d.T, "retry failed"),
		}, Tasks: d.payloads(), Digest: d.digest(), At: d.at()}
		if rapid.IntRange(0, 2).Draw(d.T, "bound to a submitter") == 0 {
			c.Submitter = d.token()
		}
		return c
	case "chunk":
		c := fsm.SubmitTasks{Job: d.jobNumber(), Tasks: d.payloads(), Digest: d.digest(), At: d.at()}
		if j := d.m.jobByNumber(c.Job); j != nil && d.likely("in order") {
			c.Offset = uint32(len(j.tasks))
		}
		return c
	case "worker":
		g := fsm.Grant{
			Semaphore: d.name(), Identity: pick(d, "identity", modelIdentities...), Weight: 1, Worker: true,
			RequestID: pick(d, "request", modelRequests...), CordonRevision: d.m.cordonRevision, At: d.at(),
		}
		for _, name := range modelSemaphores {
			if j, _ := d.m.nextTask(name); j != nil && d.likely("where a task is waiting") {
				g.Semaphore = name
			}
		}
		g.DefinitionVersion = d.version(g.Semaphore)
		if own := d.m.own(g.Semaphore, g.Identity); own != nil && own.State == semaphore.Live {
			g.Supersedes = own.Token
		}
		if !d.likely("no firing") {
			g.Firing = modelFirings[2]
		}
		return g
	case "release":
		return fsm.Release{
			Token: d.taskToken(), Job: pick(d, "job", semaphore.JobDone, semaphore.JobDone, semaphore.JobFailed), Result: pick(d, "result", nil, []byte("r"), []byte("s")), At: d.at(),
		}
	case "expire":
		return fsm.Expire{Token: d.taskToken(), Term: d.timerTerm(), Cooling: pick(d, "cooling", 0, 0, time.Second), At: d.at()}
	case "cancel":
		c := fsm.CancelJob{Job: d.jobNumber(), Cause: pick(d, "cause", work.CancelRequested, work.CancelTimeout), Reason: d.text("reason"), At: d.at()}
		if c.Cause == work.CancelTimeout {
			c.Term = d.timerTerm()
		}
		return c
	case "change":
		number := d.jobNumber()
		for i := range d.m.jobs {
			if j := &d.m.jobs[i]; j.view().Failed > 0 && d.likely("a job with failed tasks") {
				number = j.Number
			}
		}
		return fsm.ChangeTasks{
			Job: number, Indexes: rapid.SliceOfN(rapid.Uint32Range(0, 4), 0, 3).Draw(d.T, "indexes"), Drop: rapid.Bool().Draw(d.T, "drop"), At: d.at(),
			AsOf: pick(d, "as of", 0, d.m.revision, d.m.revision/2),
		}
	}
	c := fsm.DeleteJob{Job: d.jobNumber(), At: d.at()}
	if rapid.Bool().Draw(d.T, "by the leader") {
		c.Term = d.timerTerm()
	}
	return c
}

// taskToken draws the token of an existing task, or any token.
func (d draw) taskToken() uint64 {
	var all []uint64
	for _, j := range d.m.jobs {
		for _, t := range j.tasks {
			if t.Token != 0 {
				all = append(all, t.Token)
			}
		}
	}
	if len(all) > 0 && d.likely("a task's token") {
		return all[rapid.IntRange(0, len(all)-1).Draw(d.T, "task")]
	}
	return d.token()
}

// checkWork compares the jobs with the model and checks invariants that do not depend on the model.
func checkWork(t *rapid.T, before, s *fsm.State, m *model, cmds []fsm.Command, events []fsm.Event) {
	t.Helper()
	var jobEvents []string
	for _, e := range events {
		if e.Job != nil {
			jobEvents = append(jobEvents, describeJob(e.Kind, e.Job, e.Task))
		}
	}
	same(t, "job events", jobEvents, m.jobEvents)
	var jobs, wanted []*work.Job
	for j := range s.Jobs(0) {
		jobs = append(jobs, j)
		same(t, "job by id", s.Job(j.ID), j)
	}
	for i := range m.jobs {
		j := &m.jobs[i]
		wanted = append(wanted, j.view())
		var tasks, want []work.Task
		for task := range s.Tasks(j.Number, 0) {
			tasks = append(tasks, *task)
		}
		for _, task := range j.tasks {
			want = append(want, task.Task)
		}
		same(t, "tasks of job "+j.ID, tasks, want)
	}
	same(t, "jobs", jobs, wanted)
	same(t, "job count", s.JobCount(), len(m.jobs))
	same(t, "job bytes", s.WorkBytes(), m.workSums("").Bytes)
	for _, name := range modelSemaphores {
		same(t, "work for "+name, s.Work(name), m.workSums(name))
		_, next := s.NextTask(name)
		if _, want := m.nextTask(name); want == nil {
			same(t, "next task of "+name, next, (*work.Task)(nil))
		} else {
			same(t, "next task of "+name, *next, want.Task)
		}
	}
	for token := range m.token + 2 {
		found := s.TaskOf(token)
		if _, want := m.taskOf(token); (found == nil) != (want == nil) || found != nil && found.Ref != want.Ref {
			t.Fatalf("TaskOf(%d) = %+v, want %+v", token, found, want)
		}
	}
	changed := slices.ContainsFunc(cmds, func(c fsm.Command) bool { _, ok := c.(fsm.ChangeTasks); return ok })
	for j := range before.Jobs(0) {
		for prev := range before.Tasks(j.Number, 0) {
			now := s.Task(prev.Ref)
			if prev.Finished() && now != nil && !changed {
				same(t, "finished task", now, prev)
			}
			if now != nil && now.State == work.Held && s.Permit(now.Token) == nil {
				t.Fatalf("task %+v is held without a permit", now)
			}
		}
	}
}
