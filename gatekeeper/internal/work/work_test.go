package work

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeKeeper is a Keeper whose responses are set by the test.
type fakeKeeper struct {
	acquire func(ctx context.Context, call *keeper.AcquireCall) (keeper.Answer, error)
	err     error // returned by Release

	mu       sync.Mutex
	released []fsm.Release
}

func (l *fakeKeeper) Acquire(ctx context.Context, call *keeper.AcquireCall, _ func(keeper.Place) error) (keeper.Answer, error) {
	return l.acquire(ctx, call)
}

func (l *fakeKeeper) Release(_ context.Context, cmd fsm.Release, _ semaphore.Owner) (fsm.ReleaseResult, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released = append(l.released, cmd)
	return fsm.ReleaseResult{Released: true, Recorded: true}, l.err
}

func granted(token uint64, after time.Duration) keeper.Answer {
	return keeper.Answer{
		Outcome: semaphore.Granted, Permit: &semaphore.Permit{Token: token}, Waited: after,
		Job: &work.Job{Spec: &work.Spec{ID: "j"}}, Task: &work.Task{Token: token},
	}
}

func offer() Offer {
	return Offer{Semaphore: "s", Identity: semaphore.Identity{Group: "g", Acquirer: "a", HolderID: "h"}, Weight: 1}
}

func TestWorker_GrantFrame_IsLastBeforeProposal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeKeeper{acquire: func(_ context.Context, call *keeper.AcquireCall) (keeper.Answer, error) {
			time.Sleep(10 * time.Second)
			return granted(7, 8*time.Second), nil
		}}
		w := NewRoom(l).Open(t.Context(), offer())
		defer w.Close()
		w.Received(1, time.Now())
		if err := w.Take(1); err != nil {
			t.Fatal(err)
		}
		for n := range uint64(4) { // at 3, 6, 9 and 12 s
			time.Sleep(3 * time.Second)
			w.Received(2+n, time.Now())
		}
		g := (<-w.Answers()).Grant
		if g.Frame != 3 || g.Waited != 2*time.Second {
			t.Fatalf("got frame %d, waited %v, want frame 3, waited 2s", g.Frame, g.Waited)
		}
	})
}

func TestWorker_StreamEndsBeforeTaskIsSent_ReturnsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeKeeper{acquire: func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) { return granted(7, 0), nil }}
		ctx, cancel := context.WithCancel(t.Context())
		r := NewRoom(l)
		w := r.Open(ctx, offer())
		if err := w.Take(1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if held := r.Workers("s"); len(held) != 1 || len(held[0].Held) != 1 || held[0].Held[0].Job != "j" {
			t.Fatalf("Workers() = %+v, want one worker with the task of job j", held)
		}
		cancel()
		w.Close()
		if len(l.released) != 1 || l.released[0].Token != 7 || l.released[0].Job != semaphore.JobNotRun {
			t.Fatalf("released %+v, want token 7 with JobNotRun", l.released)
		}
		if len(r.Workers("")) != 0 {
			t.Fatal("Workers() still includes the closed worker")
		}
	})
}

func TestWorker_Denied_NotifiesOnceAndRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reasons := []semaphore.Reason{semaphore.GroupMismatch, semaphore.GroupMismatch, semaphore.Cordoned}
		l := &fakeKeeper{acquire: func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
			if len(reasons) == 0 {
				<-ctx.Done()
				return keeper.Answer{}, ctx.Err()
			}
			d := &keeper.Denial{Decision: semaphore.Decision{Outcome: semaphore.Denied, Reason: reasons[0]}}
			reasons = reasons[1:]
			return keeper.Answer{Outcome: semaphore.Denied, Denial: d}, nil
		}}
		w := NewRoom(l).Open(t.Context(), offer())
		defer w.Close()
		if err := w.Take(1); err != nil {
			t.Fatal(err)
		}
		for _, want := range []semaphore.Reason{semaphore.GroupMismatch, semaphore.Cordoned} {
			if got := (<-w.Answers()).Denial; got == nil || got.Decision.Reason != want {
				t.Fatalf("got denial %+v, want reason %v", got, want)
			}
		}
	})
}

func TestWorker_AdmittedAgain_ClearsDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		denied := keeper.Answer{
			Outcome: semaphore.Denied, Denial: &keeper.Denial{Decision: semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.Cordoned}},
		}
		l := &fakeKeeper{acquire: func(_ context.Context, call *keeper.AcquireCall) (keeper.Answer, error) {
			if calls.Add(1) != 2 {
				return denied, nil
			}
			call.Placed()
			time.Sleep(time.Minute)
			return denied, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		r := NewRoom(l)
		w := r.Open(ctx, offer())
		if err := w.Take(1); err != nil {
			t.Fatal(err)
		}
		if got := (<-w.Answers()).Denial; got == nil || r.Workers("")[0].Denied != semaphore.Cordoned {
			t.Fatalf("got denial %+v, Workers() = %+v, want both cordoned", got, r.Workers(""))
		}
		time.Sleep(10 * time.Second) // by now it has retried and is in the queue
		if got := r.Workers("")[0].Denied; got != semaphore.NoReason {
			t.Fatalf("Denied = %v while the worker is in the queue, want NoReason", got)
		}
		if got := (<-w.Answers()).Denial; got == nil {
			t.Fatal("got no denial for the second cordon")
		}
		cancel()
		w.Close()
	})
}

func TestWorker_End_AnswersRefusesOrFailsStream(t *testing.T) {
	for name, x := range map[string]struct {
		err          error
		refused, end bool
	}{
		"answered":        {},
		"too large":       {err: &keeper.WorkLimitError{}, refused: true},
		"not the leader":  {err: errors.New("not the leader"), end: true},
		"another's token": {err: &keeper.RefusedError{}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewRoom(&fakeKeeper{err: x.err}).Open(t.Context(), offer())
			defer w.Close()
			if err := w.End(fsm.Release{Token: 5}, false); err != nil {
				t.Fatal(err)
			}
			select {
			case a := <-w.Answers():
				if x.end || (a.Ended.Refused != nil) != x.refused || a.Ended.Token != 5 {
					t.Fatalf("response to End() = %+v, want refused = %t", a.Ended, x.refused)
				}
			case err := <-w.Failed():
				if !x.end || !errors.Is(err, x.err) {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestWorker_MoreThanMaxSlots_IsRefused(t *testing.T) {
	l := &fakeKeeper{acquire: func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
		<-ctx.Done()
		return keeper.Answer{}, ctx.Err()
	}}
	w := NewRoom(l).Open(t.Context(), offer())
	defer w.Close()
	if err := errors.Join(w.Take(MaxSlots-1), w.Take(1)); err != nil {
		t.Fatal(err)
	}
	if w.Take(1) == nil {
		t.Fatal("Take() beyond MaxSlots succeeded, want an error")
	}
}

// grants returns a Keeper that has a task for every slot. Tokens start at 1.
func grants() *fakeKeeper {
	var tokens atomic.Uint64
	return &fakeKeeper{acquire: func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
		return granted(tokens.Add(1), 0), nil
	}}
}

func TestWorker_AllSlotsInUse_CanExchangeButNotAddTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := NewRoom(grants()).Open(ctx, offer())
		if err := w.Take(MaxSlots); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // all slots have a task, but most grants have not been read yet
		g := (<-w.Answers()).Grant
		synctest.Wait()
		if w.Take(1) == nil {
			t.Fatal("Take() beyond MaxSlots succeeded, want an error")
		}
		if err := w.End(fsm.Release{Token: g.Permit.Token}, true); err != nil {
			t.Fatalf("End() requesting the next task: %v", err)
		}
		cancel()
		w.Close()
	})
}

func TestWorker_Drained_TakesNoMoreTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waiting atomic.Int32
		l := &fakeKeeper{acquire: func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
			waiting.Add(1)
			defer waiting.Add(-1)
			<-ctx.Done()
			return keeper.Answer{}, ctx.Err()
		}}
		r := NewRoom(l)
		w := r.Open(t.Context(), offer())
		defer w.Close()
		if err := w.Take(3); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := waiting.Load(); n != 3 {
			t.Fatalf("got %d slots in the queue, want 3", n)
		}
		w.Drain()
		synctest.Wait()
		if n := waiting.Load(); n != 0 {
			t.Fatalf("got %d slots in the queue after Drain, want 0", n)
		}
		if err := w.End(fsm.Release{Token: 7}, true); err != nil {
			t.Fatal(err)
		}
		if a := <-w.Answers(); a.Ended == nil || a.Ended.Token != 7 {
			t.Fatalf("got message %+v, want token 7 ended", a)
		}
		if info := r.Workers("s"); len(info) != 1 || !info[0].Draining || info[0].Free != 0 {
			t.Fatalf("Workers() = %+v, want one draining worker without free slots", info)
		}
	})
}

func TestReport_EndedTask_IsIgnored(t *testing.T) {
	r := NewRoom(grants())
	w := r.Open(t.Context(), offer())
	defer w.Close()
	if err := w.Take(1); err != nil {
		t.Fatal(err)
	}
	token := (<-w.Answers()).Grant.Permit.Token
	w.Report(token, Progress{Fraction: 0.5})
	if p := r.Progress(token); p == nil || p.Fraction != 0.5 {
		t.Fatalf("Progress() of the held task = %+v, want 0.5", p)
	}
	if err := w.End(fsm.Release{Token: token}, false); err != nil {
		t.Fatal(err)
	}
	<-w.Answers()
	w.Report(token, Progress{Fraction: 0.9})
	if p := r.Progress(token); p != nil {
		t.Fatalf("Progress() after the task ended = %+v, want nil", p)
	}
}

// submissions is a state machine that stores submitted jobs.
type submissions struct {
	m     *fsm.Machine
	index uint64
	sizes []int
}

func newSubmissions(t *testing.T) *submissions {
	s := &submissions{m: fsm.New("5eed.1")}
	s.apply(t, fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
	d := &semaphore.Definition{
		Name: "s", GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute, OnExpiry: semaphore.OnExpiryFree,
		FiringOnLoss: semaphore.FiringSpent, FiringRetention: time.Hour, FiringLimit: 10,
	}
	s.apply(t, fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: "s", Definition: d}}})
	return s
}

func (s *submissions) apply(t *testing.T, cmd fsm.Command) fsm.Result {
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd})
	if err != nil {
		t.Fatal(err)
	}
	s.sizes = append(s.sizes, len(entry))
	s.index++
	r, err := s.m.Apply(s.index, 1, entry)
	if err != nil {
		t.Fatal(err)
	}
	return r[0]
}

type submitter struct {
	*submissions
	t *testing.T
}

func (s submitter) SubmitJob(_ context.Context, cmd fsm.SubmitJob) (fsm.SubmitResult, error) {
	return s.apply(s.t, cmd).(fsm.SubmitResult), nil
}

func (s submitter) SubmitTasks(_ context.Context, _ string, cmd fsm.SubmitTasks) (fsm.SubmitResult, error) {
	return s.apply(s.t, cmd).(fsm.SubmitResult), nil
}

func (s submitter) DropSubmission(number uint64) {
	s.apply(s.t, fsm.DeleteJob{Job: number, Term: 1})
}

func spec(id string) *work.Spec { return &work.Spec{ID: id, Semaphore: "s"} }

func TestSubmission_WritesBoundedEntriesAndIsRepeatable(t *testing.T) {
	s := newSubmissions(t)
	payload := []byte(strings.Repeat("x", 50<<10))
	send := func(last string) (*work.Job, bool, error) {
		sub := NewSubmission(submitter{s, t}, spec("j"), 0)
		defer sub.Abort()
		for range 4 {
			if err := sub.Add(t.Context(), [][]byte{payload, payload, []byte(last)}); err != nil {
				return nil, false, err
			}
		}
		return sub.Finish(t.Context())
	}
	j, repeated, err := send("a")
	if err != nil || repeated || j.Tasks != 12 || j.State != work.Open {
		t.Fatalf("Finish() = %+v, %v, %v, want an open job with 12 tasks", j, repeated, err)
	}
	for _, size := range s.sizes {
		if size > chunk+chunk/8 {
			t.Errorf("got an entry of %d bytes, larger than a chunk", size)
		}
	}
	if len(s.sizes) < 4 {
		t.Errorf("got %d entries, want at least 4", len(s.sizes))
	}
	if again, repeated, err := send("a"); err != nil || !repeated || again.Number != j.Number {
		t.Fatalf("Finish() of the same submission = %+v, %v, %v, want the same job", again, repeated, err)
	}
	_, _, err = send("b")
	if differs, ok := errors.AsType[*DiffersError](err); !ok || differs.ID != "j" {
		t.Fatalf("Finish() with different content = %v, want a DiffersError", err)
	}
}

func TestSubmission_DifferentSettings_IsRefused(t *testing.T) {
	s := newSubmissions(t)
	for i, change := range []func(*work.Spec){
		func(*work.Spec) {},
		func(sp *work.Spec) { sp.Priority = 1 },
		func(sp *work.Spec) { sp.MaxResult = 1 },
		func(sp *work.Spec) { sp.RetryFailed = true },
		func(sp *work.Spec) { sp.Timeout = time.Hour },
		func(sp *work.Spec) { sp.Labels = semaphore.Labels{{Key: "k", Value: "v"}} },
	} {
		sp := spec("j")
		change(sp)
		sub := NewSubmission(submitter{s, t}, sp, 0)
		err := sub.Add(t.Context(), [][]byte{[]byte("a")})
		if err == nil {
			_, _, err = sub.Finish(t.Context())
		}
		if _, differs := errors.AsType[*DiffersError](err); differs != (i > 0) {
			t.Errorf("submission with settings %d = %v, want DiffersError: %t", i, err, i > 0)
		}
	}
}

func TestSubmission_SameBytesSplitDifferently_IsRefused(t *testing.T) {
	s := newSubmissions(t)
	for i, tasks := range [][][]byte{{[]byte("a"), []byte("bc")}, {[]byte("ab"), []byte("c")}, {[]byte("abc")}, {[]byte("a"), nil, []byte("bc")}} {
		sub := NewSubmission(submitter{s, t}, spec("j"), 0)
		err := sub.Add(t.Context(), tasks)
		if err == nil {
			_, _, err = sub.Finish(t.Context())
		}
		if _, differs := errors.AsType[*DiffersError](err); differs != (i > 0) {
			t.Errorf("submission with tasks %q = %v, want DiffersError: %t", tasks, err, i > 0)
		}
	}
}

func TestSubmission_Aborted_RemovesJob(t *testing.T) {
	s := newSubmissions(t)
	sub := NewSubmission(submitter{s, t}, spec("j"), 0)
	for range 6 {
		if err := sub.Add(t.Context(), [][]byte{make([]byte, 60<<10)}); err != nil {
			t.Fatal(err)
		}
	}
	if s.m.State().Job("j") == nil {
		t.Fatal("the submission wrote nothing before it was aborted")
	}
	sub.Abort()
	if s.m.State().Job("j") != nil || s.m.State().WorkBytes() != 0 {
		t.Fatal("part of the job remains after Abort")
	}
}

// The receiving goroutine may be processing a message when the stream ends for another reason.
func TestWorker_MessageDuringClose_IsDroppedOrProcessed(t *testing.T) {
	l := &fakeKeeper{acquire: func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
		<-ctx.Done()
		return keeper.Answer{}, ctx.Err()
	}}
	r := NewRoom(l)
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		w := r.Open(ctx, offer())
		if err := w.Take(1); err != nil { // so that Close has to wait
			t.Fatal(err)
		}
		received := make(chan error, 1)
		go func() {
			<-ctx.Done()
			for range 20 {
				if err := w.End(fsm.Release{Token: 7}, true); err != nil {
					received <- err
					return
				}
			}
			received <- nil
		}()
		cancel()
		w.Close()
		if err := <-received; err != nil {
			t.Fatal(err)
		}
	}
}

// A worker that is no longer admitted can still report the result of its last task.
func TestWorker_EndWithNextTaskDenied_StillReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeKeeper{acquire: func(context.Context, *keeper.AcquireCall) (keeper.Answer, error) {
			d := &keeper.Denial{Decision: semaphore.Decision{Outcome: semaphore.Denied, Reason: semaphore.GroupMismatch}}
			return keeper.Answer{Outcome: semaphore.Denied, Denial: d}, nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		w := NewRoom(l).Open(ctx, offer())
		if err := w.End(fsm.Release{Token: 7, Job: semaphore.JobDone}, true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(l.released) != 1 {
			t.Fatal("the task was not released")
		}
		cancel()
		w.Close()
	})
}

// A worker with many slots sends hundreds of frames while a grant is being committed. The grant's duration must still
// count from a frame that arrived before its proposal.
func TestWorker_ManyFramesDuringCommit_GrantCountsFromEarlierFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewRoom(&fakeKeeper{}).Open(t.Context(), offer())
		defer w.Close()
		frames := uint64(0)
		during := func(d, gap time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(gap) {
				frames++
				w.Received(frames, time.Now())
			}
		}
		during(time.Second, 10*time.Millisecond)
		last, proposedAt := frames, time.Now()
		time.Sleep(time.Millisecond)
		during(4*time.Second, time.Millisecond/2)
		g := w.newGrant(proposedAt, keeper.Answer{})
		if g.Frame == 0 || g.Frame > last || g.Waited > 50*time.Millisecond {
			t.Errorf("grant counts from frame %d, %v before its proposal; want at most frame %d and 50ms", g.Frame, g.Waited, last)
		}
		if len(w.frames) > maxFrames {
			t.Errorf("got %d stored frames, want at most %d", len(w.frames), maxFrames)
		}
	})
}

func TestWorker_RepeatAnswer_Retries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		l := &fakeKeeper{acquire: func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
			if calls++; calls == 1 {
				return keeper.Answer{Repeat: &keeper.Place{}}, nil
			}
			<-ctx.Done()
			return keeper.Answer{}, ctx.Err()
		}}
		ctx, cancel := context.WithCancel(t.Context())
		w := NewRoom(l).Open(ctx, offer())
		if err := w.Take(1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if calls != 2 {
			t.Errorf("Acquire called %d times, want 2", calls)
		}
		cancel()
		w.Close()
	})
}

// After a refused End, the worker keeps its task and is not handed another, no matter how often it retries.
func TestWorker_EndIsRefused_GetsNoNewTask(t *testing.T) {
	for name, late := range map[string]bool{"slot waits": false, "slot is granted late": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tokens atomic.Uint64
				l := &fakeKeeper{err: &keeper.WorkLimitError{}, acquire: func(ctx context.Context, call *keeper.AcquireCall) (keeper.Answer, error) {
					token := tokens.Add(1)
					if token == 1 {
						return granted(token, 0), nil
					}
					call.Placed()
					<-ctx.Done()
					if late {
						return granted(token, 0), nil
					}
					return keeper.Answer{}, ctx.Err()
				}}
				ctx, cancel := context.WithCancel(t.Context())
				r := NewRoom(l)
				w := r.Open(ctx, offer())
				if err := w.Take(1); err != nil {
					t.Fatal(err)
				}
				<-w.Answers()
				for range 3 {
					if err := w.End(fsm.Release{Token: 1, Job: semaphore.JobDone}, true); err != nil {
						t.Fatal(err)
					}
					if a := <-w.Answers(); a.Ended == nil || a.Ended.Refused == nil {
						t.Fatalf("response to End() = %+v, want a refusal", a)
					}
					x := r.Workers("s")[0]
					if x.Free != 0 || len(x.Held) != 1 || x.Held[0].Token != 1 {
						t.Fatalf("worker has %d free slots and holds %+v, want its task and no free slots", x.Free, x.Held)
					}
				}
				cancel()
				w.Close()
			})
		})
	}
}

// The grant of the next task can share a log entry with the release only if its slot is already in the queue.
func TestWorker_EndWithNextTask_ReleasesAfterSlotIsPlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var placed func()
		l := &fakeKeeper{acquire: func(ctx context.Context, call *keeper.AcquireCall) (keeper.Answer, error) {
			placed = call.Placed
			<-ctx.Done()
			return keeper.Answer{}, ctx.Err()
		}}
		ctx, cancel := context.WithCancel(t.Context())
		w := NewRoom(l).Open(ctx, offer())
		if err := w.End(fsm.Release{Token: 7, Job: semaphore.JobDone}, true); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(l.released) != 0 {
			t.Fatal("released before the slot was placed")
		}
		placed()
		if a := <-w.Answers(); a.Ended == nil || a.Ended.Token != 7 || len(l.released) != 1 {
			t.Fatalf("got message %+v after %d releases, want token 7 ended after 1 release", a, len(l.released))
		}
		cancel()
		w.Close()
	})
}
