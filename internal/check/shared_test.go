package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// newSharedStory returns a scenario with a job whose workers share one permit with ordinary callers.
func newSharedStory(t *testing.T) *story {
	s := newStory(t, one())
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
	return s
}

// counted records that the worker relies on the permit of its task for a second, starting now.
func (s *story) counted(worker string, token uint64) {
	s.believe(worker, token, s.at, s.at+time.Second)
}

func (s *story) operator(r history.Request) {
	s.begin(r)(history.Response{Result: history.Done, Revision: 20})
}

func (s *story) cordon(kind history.Kind, acquirers string) {
	s.operator(history.Request{Kind: kind, CordonID: acquirers, Acquirers: acquirers})
}

func TestShared_WorkersAndCallersTakeTurns_Holds(t *testing.T) {
	s := newSharedStory(t)
	s.grant("a", 1)
	s.ask(history.Release, 1, history.Released)
	s.handed("w", 0, 2)
	s.believe("w", 2, s.at, s.at+100*time.Millisecond)
	s.denied("a", "NO_FREE_PERMIT")
	s.pass(100 * time.Millisecond)
	s.end(2, "DONE", "A", history.Recorded)
	s.grant("b", 3)
	s.ask(history.Release, 3, history.Released)
	s.handed("killed", 1, 4)
	s.counted("killed", 4)
	s.pass(time.Second)
	s.granted(history.Request{Kind: history.Acquire, Identity: workerSlot("killed", 4), RequestID: "same identity", Weight: 1}, 5)
	s.holds()
}

func TestShared_HeavyTask_TakesAllItsPermits(t *testing.T) {
	for weight, fits := range map[uint32]bool{2: true, 3: false} {
		three := one()
		three.Permits = 3
		s := newStory(t, three)
		s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
		s.task(history.Handed{Weight: weight, Token: 1})
		s.counted("w", 1)
		s.grant("a", 2)
		if fits {
			s.holds()
		} else {
			s.breaks(Linear, "granted token 2")
		}
	}
}

func TestShared_TaskWithoutABelief_MayHaveExpired(t *testing.T) {
	s := newSharedStory(t)
	s.handed("killed", 0, 1)
	s.grant("a", 2)
	s.holds()
}

// task hands the first task to worker w.
func (s *story) task(h history.Handed) {
	s.at += 10 * time.Millisecond
	h.Semaphore, h.Identity, h.Job, h.Content = "s", workerSlot("w", h.Token), "j", "a"
	history.NewRecorder("w", s.now, func(e history.Entry) { s.entries = append(s.entries, e) }).Handed(h)
}

func TestShared_HolderConcurrentWithAWorker_IsCaught(t *testing.T) {
	for name, tell := range map[string]func(*story){
		"TaskDuringGrant": func(s *story) {
			s.grant("a", 1)
			s.handed("w", 0, 2)
		},
		"GrantDuringTask": func(s *story) {
			s.handed("w", 0, 1)
			s.counted("w", 1)
			s.grant("a", 2)
		},
		"CallerWithWorkersIdentity": func(s *story) {
			s.handed("w", 0, 1)
			s.counted("w", 1)
			s.granted(history.Request{Kind: history.Acquire, Identity: workerSlot("w", 1), RequestID: "r", Weight: 1}, 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharedStory(t)
			tell(s)
			s.breaks(Linear, "granted token 2")
		})
	}
}

func TestShared_MoreBelieversThanPermits_AreCaught(t *testing.T) {
	s := newSharedStory(t)
	s.handed("w", 0, 1)
	s.counted("w", 1)
	s.believe("a", 2, s.at, s.at+time.Second)
	s.breaks(Exclusive, "w with token 1", "a with token 2")
}

func TestShared_TaskThatTheDefinitionForbids_IsCaught(t *testing.T) {
	elsewhere := one()
	elsewhere.GroupPattern = "elsewhere"
	for name, act := range map[string][2]func(*story){
		"Pause": {
			func(s *story) { s.operator(history.Request{Kind: history.Pause}) },
			func(s *story) { s.operator(history.Request{Kind: history.Resume}) },
		},
		"Edit": {
			func(s *story) { s.edit(10, 11, elsewhere) },
			func(s *story) { s.edit(11, 12, one()) },
		},
		"Cordon": {
			func(s *story) { s.cordon(history.Cordon, "w|v") },
			func(s *story) { s.cordon(history.Uncordon, "w|v") },
		},
	} {
		// Token 2, which came with the task, was granted after token 1 was requested. A violation is certain only if
		// that request was made while the restriction was in force. Otherwise token 2 may have been granted before or
		// after the restriction.
		for _, asked := range []string{"Before", "During", "After"} {
			t.Run(fmt.Sprint(name, asked), func(t *testing.T) {
				s := newSharedStory(t)
				two := s.begin(history.Request{Kind: history.Acquire, Semaphore: "other", Identity: history.Identity{Acquirer: "x"}, RequestID: "early"})
				other := func() {
					if asked != "Before" {
						two = s.begin(history.Request{Kind: history.Acquire, Semaphore: "other", Identity: history.Identity{Acquirer: "x"}, RequestID: "late"})
					}
					two(history.Response{Result: history.Granted, Token: 1, Revision: 1})
				}
				s.edits("other")
				act[0](s)
				if asked == "After" {
					act[1](s)
				}
				other()
				s.handed("w", 0, 2)
				if asked == "During" {
					s.breaks(Linear, "granted token 2")
				} else {
					s.holds()
				}
			})
		}
	}
}

// edits creates another semaphore that admits all callers.
func (s *story) edits(name string) {
	d := one()
	s.begin(history.Request{Kind: history.Edit, Semaphore: name, Definition: &d})(history.Response{Result: history.Done, Revision: 13})
}

func TestShared_CordonOfOthers_HasNoEffect(t *testing.T) {
	s := newSharedStory(t)
	s.cordon(history.Cordon, "v")
	s.grant("a", 1)
	s.ask(history.Release, 1, history.Released)
	s.handed("w", 0, 2)
	s.holds()
}

func TestShared_TaskThatReachedNoWorker_MayExplainADenial(t *testing.T) {
	s := newSharedStory(t)
	s.denied("a", "NO_FREE_PERMIT")
	s.holds()
}

func TestShared_TokensOfTasks_Rise(t *testing.T) {
	s := newStory(t, one())
	s.edits("other")
	r := s.acquire("a")
	r.Semaphore = "other"
	s.granted(r, 7)
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
	s.handed("w", 0, 6)
	s.breaks(RisingTokens, "token 6")

	s = newSharedStory(t)
	s.handed("w", 0, 1)
	s.grant("a", 1)
	s.breaks(RisingTokens, "token 1")
}

func TestShared_PermitWithATask_IsNeverSuperseded(t *testing.T) {
	s := newSharedStory(t)
	s.handed("w", 0, 1)
	s.begin(history.Request{Kind: history.Acquire, Identity: workerSlot("w", 1), RequestID: "r", Weight: 1})(history.Response{Result: history.Granted, Token: 2, Superseded: 1})
	s.breaks(OneSuccessor, "carries a task")
}
