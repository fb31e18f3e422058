package check

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

func (s *scenario) fire(who string, token uint64) {
	r := s.acquire(who)
	r.Firing = "noon"
	s.granted(r, token)
}

func (s *scenario) release(r history.Request) {
	r.Kind = history.Release
	s.begin(r)(history.Response{Result: history.Released})
}

func (s *scenario) takeOver(token uint64) { s.call(history.TakeOver, token, history.Done) }

func (s *scenario) await(token uint64, end string, endedToken uint64, failure string) {
	s.begin(history.Request{Kind: history.Await, Firing: "noon", Token: token})(
		history.Response{Result: history.FiringEnded, Firing: end, Token: endedToken, Failure: failure, Attempts: 1})
}

func TestFirings_GrantedTwice_AreCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fire("a", 1)
	s.release(history.Request{Token: 1, NotRun: true})
	s.fire("b", 2)
	s.wantNoViolations()
	s.call(history.Release, 2, history.Released)
	s.fire("c", 3)
	s.wantViolation(FiringOnce, "token 2", "token 3")

	def := onePermit()
	def.FreeOnLoss = true
	s = newScenario(t, def)
	s.fire("a", 1)
	s.advance(2 * time.Second)
	s.fire("b", 2)
	s.release(history.Request{Token: 2, CutShort: true})
	s.fire("c", 3)
	s.wantNoViolations()
	s.release(history.Request{Token: 3, Failed: true, Failure: "no space"})
	s.advance(2 * time.Second) // does not lose token 3, which has already ended
	s.fire("d", 4)
	s.wantViolation(FiringOnce, "token 3", "token 4")

	for name, end := range map[string]func(*scenario){
		"lost":      func(s *scenario) { s.advance(2 * time.Second) },
		"cut short": func(s *scenario) { s.release(history.Request{Token: 1, CutShort: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, onePermit())
			s.fire("a", 1)
			end(s)
			s.fire("b", 2)
			s.wantViolation(FiringOnce, "token 1", "token 2")

			s = newScenario(t, onePermit())
			s.fire("a", 1)
			s.takeOver(1)
			end(s)
			s.fire("b", 2)
			s.wantNoViolations()
		})
	}
}

func TestFirings_StartedTooManyTimes_AreCaught(t *testing.T) {
	def := onePermit()
	def.FreeOnLoss, def.MaxAttempts = true, 2
	s := newScenario(t, def)
	for token, who := range []string{"a", "b", "c"} {
		s.fire(who, uint64(token+1))
		s.release(history.Request{Token: uint64(token + 1), CutShort: token != 1, NotRun: token == 1}) // the second run never started
	}
	s.wantNoViolations()
	s.fire("d", 4)
	s.wantViolation(Attempts, "3 times", "token 4", "max_attempts is 2")
}

func TestTakeOver_DoesNotFreeSlot(t *testing.T) {
	s := newScenario(t, onePermit())
	s.grant("a", 1)
	s.takeOver(1)
	s.call(history.Refresh, 1, history.Stopping)
	s.wantNoViolations()
	s.grant("b", 2)
	s.wantViolation(Linear)

	s = newScenario(t, onePermit())
	s.grant("a", 1)
	s.takeOver(1)
	s.call(history.Refresh, 1, history.Refreshed)
	s.wantViolation(Linear)
}

func TestAwait_OutcomeNotReportedByHolder_IsCaught(t *testing.T) {
	for name, test := range map[string]struct {
		end  history.Request // the release of token 1
		good [2]string       // the correct outcome and failure text
		bad  [][2]string
	}{
		"done":      {history.Request{}, [2]string{"DONE"}, [][2]string{{"FAILED"}, {"CUT_SHORT"}, {"SPENT"}, {"TAKEN_OVER"}, {"CLAIMED"}, {"OPEN"}}},
		"failed":    {history.Request{Failed: true, Failure: "x"}, [2]string{"FAILED", "x"}, [][2]string{{"FAILED", "y"}, {"DONE"}, {"SPENT"}, {"TAKEN_OVER"}}},
		"cut short": {history.Request{CutShort: true}, [2]string{"CUT_SHORT"}, [][2]string{{"DONE"}, {"FAILED"}, {"SPENT"}}},
	} {
		t.Run(name, func(t *testing.T) {
			ended := func() *scenario {
				s := newScenario(t, onePermit())
				s.fire("a", 1)
				test.end.Token = 1
				s.release(test.end)
				return s
			}
			s := ended()
			s.await(1, test.good[0], 1, test.good[1])
			s.await(0, test.good[0], 1, test.good[1])
			s.wantNoViolations()
			for _, bad := range test.bad {
				s := ended()
				s.await(1, bad[0], 1, bad[1])
				s.wantViolation(FiringEnd, "noon", bad[0])
			}
		})
	}
	// A loss is reported while the holder still relies on its permit.
	s := newScenario(t, onePermit())
	s.fire("a", 1)
	s.await(1, "SPENT", 1, "")
	s.wantViolation(FiringEnd, "SPENT")
}
