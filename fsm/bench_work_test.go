package fsm_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// submitChunked submits a job for semaphore s in chunks, as servers do, and drops the entries and events that the log
// keeps.
func (l *log) submitChunked(id string, count, payload int) *work.Job {
	l.tb.Helper()
	size := max(1, min(1000, 256<<10/(payload+16)))
	var j *work.Job
	for n := 0; n < count; {
		var chunk [][]byte
		for ; len(chunk) < size && n < count; n++ {
			chunk = append(chunk, fmt.Appendf(make([]byte, 0, payload), "%0*d", payload, n))
		}
		done := ""
		if n == count {
			done = digest()
		}
		if j == nil {
			j = l.submit(id, chunk, func(c *fsm.SubmitJob) { c.Digest, c.Spec.MaxResult = done, 100 })
		} else {
			j = applyOne[fsm.SubmitResult](l, fsm.SubmitTasks{Job: j.Number, Offset: j.Tasks, Tasks: chunk, Digest: done}).Job
		}
		l.entries, l.events = nil, nil
	}
	return j
}

// failTasks hands out count tasks, each to its own worker, and fails them.
func (l *log) failTasks(count int) {
	for n := 0; n < count; {
		var grants, releases []fsm.Command
		token := l.state().LastToken()
		for ; len(grants) < 256 && n < count; n++ {
			grants = append(grants, l.request("s", fmt.Sprintf("w%d", n), worker))
			token++
			releases = append(releases, fsm.Release{Token: token, Job: semaphore.JobFailed, Failure: "exit code 1", At: at(3)})
		}
		l.apply(grants...)
		l.apply(releases...)
		l.entries, l.events = nil, nil
	}
}

// newLargeWorkLog is like newWorkLog, but with limits and permits that no test exceeds. It also has a semaphore "other"
// without jobs.
func newLargeWorkLog(tb tester) *log {
	l := newLog(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 4})
	l.define("s", permits(semaphore.MaxPermits))
	l.define("other")
	settings := l.state().Settings()
	settings.Work = work.Limits{JobBytes: 1 << 30, SemaphoreBytes: 1 << 30, ClusterBytes: 1 << 30}
	l.apply(fsm.Configure{Settings: settings})
	return l
}

// A queued task must take at most 600 bytes in addition to its payload.
func TestMemory_BytesPerTask(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const count, payload = 100_000, 128
	l := newLargeWorkLog(t)
	before := heap()
	l.submitChunked("j", count, payload)
	perTask := (int64(heap())-int64(before))/count - payload
	t.Logf("%d bytes per task at %d tasks", perTask, count)
	if perTask > 600 && !raceEnabled {
		t.Errorf("%d bytes per task, want at most 600", perTask)
	}

	// The limit also applies after a restart.
	file := snapshot(t, l.state())
	before = heap()
	m := fsm.New("")
	if err := m.Restore(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	perTask = (int64(heap())-int64(before))/count - payload
	t.Logf("%d bytes per task after restore", perTask)
	if perTask > 600 && !raceEnabled {
		t.Errorf("%d bytes per task after restore, want at most 600", perTask)
	}
	runtime.KeepAlive(m)
	runtime.KeepAlive(l)
	runtime.KeepAlive(file)
}

// BenchmarkWork measures snapshots, restores and entries with 256 MiB of payloads, the default limit for a cluster.
func BenchmarkWork(b *testing.B) {
	l := newLargeWorkLog(b)
	for i := range 64 {
		l.submitChunked(fmt.Sprintf("j%d", i), 64, 64<<10)
	}
	b.Run("snapshot 256 MiB", func(b *testing.B) {
		for b.Loop() {
			if err := l.state().Snapshot(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	file := snapshot(b, l.state())
	b.Run("restore 256 MiB", func(b *testing.B) {
		for b.Loop() {
			if err := fsm.New("").Restore(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
	file = nil
	// Entries do not wait for a snapshot (see TestSnapshot_DuringWrite_EntriesAreApplied), so the two results differ
	// only by the CPU time for the snapshot and its garbage collection.
	for _, concurrent := range []string{"nothing", "a snapshot of 256 MiB"} {
		b.Run("worst of 1000 entries, concurrent with "+concurrent, func(b *testing.B) {
			var stop atomic.Bool
			done := make(chan struct{})
			go func() {
				defer close(done)
				for concurrent != "nothing" && !stop.Load() {
					_ = l.state().Snapshot(io.Discard)
				}
			}()
			var worst time.Duration
			for b.Loop() {
				for range 1000 {
					token := l.state().LastToken() + 1
					entry := encode(b, []fsm.Command{l.request("other", "h"), fsm.Release{Token: token, At: at(2)}})
					start := time.Now()
					l.index++
					if _, err := l.m.Apply(l.index, l.term, entry); err != nil {
						b.Fatal(err)
					}
					worst = max(worst, time.Since(start))
				}
			}
			b.ReportMetric(float64(worst.Microseconds()), "worst-µs")
			stop.Store(true)
			<-done
		})
	}
}

// BenchmarkWholeJob measures commands that change all 100,000 tasks of a job.
func BenchmarkWholeJob(b *testing.B) {
	l := newLargeWorkLog(b)
	j := l.submitChunked("j", work.MaxTasks, 16)
	waiting := snapshot(b, l.state())
	l.failTasks(work.MaxTasks)
	failed := snapshot(b, l.state())
	for name, tc := range map[string]struct {
		file []byte
		cmd  fsm.Command
	}{
		"retry":  {failed, fsm.ChangeTasks{Job: j.Number}},
		"drop":   {failed, fsm.ChangeTasks{Job: j.Number, Drop: true}},
		"delete": {failed, fsm.DeleteJob{Job: j.Number}},
		"cancel": {waiting, fsm.CancelJob{Job: j.Number, Cause: work.CancelRequested}},
	} {
		b.Run(name, func(b *testing.B) {
			entry := encode(b, []fsm.Command{tc.cmd})
			b.StopTimer()
			if j := l.job("j"); int(j.Failed) != work.MaxTasks {
				b.Fatalf("%d tasks failed, want %d", j.Failed, work.MaxTasks)
			}
			for range b.N {
				m := fsm.New("")
				if err := m.Restore(bytes.NewReader(tc.file)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := m.Apply(m.State().Index()+1, l.term, entry); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
			}
		})
	}
}
