package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// newSharedScenario returns a scenario with a job whose workers share one permit with ordinary callers.
func newSharedScenario(t *testing.T) *scenario {
	s := newScenario(t, onePermit())
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
	return s
}

// relies records that the worker relies on its task's permit for a second, starting now.
func (s *scenario) relies(worker string, token uint64) {
	s.believe(worker, token, s.at, s.at+time.Second)
}

func (s *scenario) operator(r history.Request) {
	s.begin(r)(history.Response{Result: history.Done, Revision: 20})
}

func (s *scenario) cordon(kind history.Kind, acquirers string) {
	s.operator(history.Request{Kind: kind, CordonID: acquirers, Acquirers: acquirers})
}

func TestShared_WorkersAndCallersTakeTurns_IsAllowed(t *testing.T) {
	s := newSharedScenario(t)
	s.grant("a", 1)
	s.call(history.Release, 1, history.Released)
	s.handOut("w", 0, 2)
	s.believe("w", 2, s.at, s.at+100*time.Millisecond)
	s.denied("a", "NO_FREE_PERMIT")
	s.advance(100 * time.Millisecond)
	s.endTask(2, "DONE", "A", history.Recorded)
	s.grant("b", 3)
	s.call(history.Release, 3, history.Released)
	s.handOut("killed", 1, 4)
	s.relies("killed", 4)
	s.advance(time.Second)
	s.granted(history.Request{Kind: history.Acquire, Identity: workerSlot("killed", 4), RequestID: "same identity", Weight: 1}, 5)
	s.wantNoViolations()
}

func TestShared_HeavyTask_TakesAllItsPermits(t *testing.T) {
	for weight, fits := range map[uint32]bool{2: true, 3: false} {
		three := onePermit()
		three.Permits = 3
		s := newScenario(t, three)
		s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
		s.task(history.HandedTask{Weight: weight, Token: 1})
		s.relies("w", 1)
		s.grant("a", 2)
		if fits {
			s.wantNoViolations()
		} else {
			s.wantViolation(Linear, "granted token 2")
		}
	}
}

func TestShared_TaskWithoutBelief_MayHaveExpired(t *testing.T) {
	s := newSharedScenario(t)
	s.handOut("killed", 0, 1)
	s.grant("a", 2)
	s.wantNoViolations()
}

// task records that task 0 was handed to worker w.
func (s *scenario) task(h history.HandedTask) {
	s.at += 10 * time.Millisecond
	h.Semaphore, h.Identity, h.Job, h.Content = "s", workerSlot("w", h.Token), "j", "a"
	history.NewRecorder("w", s.now, func(e history.Entry) { s.entries = append(s.entries, e) }).HandedTask(h)
}

func TestShared_HolderConcurrentWithWorker_IsCaught(t *testing.T) {
	for name, run := range map[string]func(*scenario){
		"TaskDuringGrant": func(s *scenario) {
			s.grant("a", 1)
			s.handOut("w", 0, 2)
		},
		"GrantDuringTask": func(s *scenario) {
			s.handOut("w", 0, 1)
			s.relies("w", 1)
			s.grant("a", 2)
		},
		"CallerWithWorkersIdentity": func(s *scenario) {
			s.handOut("w", 0, 1)
			s.relies("w", 1)
			s.granted(history.Request{Kind: history.Acquire, Identity: workerSlot("w", 1), RequestID: "r", Weight: 1}, 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharedScenario(t)
			run(s)
			s.wantViolation(Linear, "granted token 2")
		})
	}
}

func TestShared_BeliefsExceedPermits_AreCaught(t *testing.T) {
	s := newSharedScenario(t)
	s.handOut("w", 0, 1)
	s.relies("w", 1)
	s.believe("a", 2, s.at, s.at+time.Second)
	s.wantViolation(Exclusive, "w with token 1", "a with token 2")
}

func TestShared_TaskDespiteRestriction_IsCaught(t *testing.T) {
	elsewhere := onePermit()
	elsewhere.GroupPattern = "elsewhere"
	for name, act := range map[string][2]func(*scenario){
		"Pause": {
			func(s *scenario) { s.operator(history.Request{Kind: history.Pause}) },
			func(s *scenario) { s.operator(history.Request{Kind: history.Resume}) },
		},
		"Edit": {
			func(s *scenario) { s.edit(10, 11, elsewhere) },
			func(s *scenario) { s.edit(11, 12, onePermit()) },
		},
		"Cordon": {
			func(s *scenario) { s.cordon(history.Cordon, "w|v") },
			func(s *scenario) { s.cordon(history.Uncordon, "w|v") },
		},
	} {
		// Token 2 was granted after token 1 was requested. A violation is certain only if that request was made while
		// the restriction was in force. Otherwise, token 2 may have been granted before or after the restriction.
		for _, requested := range []string{"Before", "During", "After"} {
			t.Run(fmt.Sprint(name, requested), func(t *testing.T) {
				s := newSharedScenario(t)
				respond := s.begin(history.Request{Kind: history.Acquire, Semaphore: "other", Identity: history.Identity{Acquirer: "x"}, RequestID: "early"})
				other := func() {
					if requested != "Before" {
						respond = s.begin(history.Request{Kind: history.Acquire, Semaphore: "other", Identity: history.Identity{Acquirer: "x"}, RequestID: "late"})
					}
					respond(history.Response{Result: history.Granted, Token: 1, Revision: 1})
				}
				s.addSemaphore("other")
				act[0](s)
				if requested == "After" {
					act[1](s)
				}
				other()
				s.handOut("w", 0, 2)
				if requested == "During" {
					s.wantViolation(Linear, "granted token 2")
				} else {
					s.wantNoViolations()
				}
			})
		}
	}
}

// addSemaphore creates another semaphore that admits all callers.
func (s *scenario) addSemaphore(name string) {
	d := onePermit()
	s.begin(history.Request{Kind: history.Edit, Semaphore: name, Definition: &d})(history.Response{Result: history.Done, Revision: 13})
}

func TestShared_CordonOfAnotherWorker_HasNoEffect(t *testing.T) {
	s := newSharedScenario(t)
	s.cordon(history.Cordon, "v")
	s.grant("a", 1)
	s.call(history.Release, 1, history.Released)
	s.handOut("w", 0, 2)
	s.wantNoViolations()
}

func TestShared_UndeliveredTask_MayExplainDenial(t *testing.T) {
	s := newSharedScenario(t)
	s.denied("a", "NO_FREE_PERMIT")
	s.wantNoViolations()
}

func TestShared_TaskTokens_Increase(t *testing.T) {
	s := newScenario(t, onePermit())
	s.addSemaphore("other")
	r := s.acquire("a")
	r.Semaphore = "other"
	s.granted(r, 7)
	s.submit(job(), history.Response{Result: history.Submitted, Revision: 15})
	s.handOut("w", 0, 6)
	s.wantViolation(IncreasingTokens, "token 6")

	s = newSharedScenario(t)
	s.handOut("w", 0, 1)
	s.grant("a", 1)
	s.wantViolation(IncreasingTokens, "token 1")
}

func TestShared_TaskPermit_IsNeverSuperseded(t *testing.T) {
	s := newSharedScenario(t)
	s.handOut("w", 0, 1)
	s.begin(history.Request{Kind: history.Acquire, Identity: workerSlot("w", 1), RequestID: "r", Weight: 1})(history.Response{Result: history.Granted, Token: 2, Superseded: 1})
	s.wantViolation(OneSuccessor, "carries a task")
}
