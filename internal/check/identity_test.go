package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// request returns an acquire by who with the given request id.
func (s *scenario) request(who, id string) history.Request {
	r := s.acquire(who)
	r.RequestID = id
	return r
}

// supersede records a re-acquisition whose response names the superseded token.
func (s *scenario) supersede(r history.Request, token, old uint64) {
	s.begin(r)(history.Response{Result: history.Granted, Token: token, Superseded: old, SafeUntil: s.at + 1010*time.Millisecond})
}

// fresh records a grant that superseded no token.
func (s *scenario) fresh(r history.Request, token uint64) {
	s.begin(r)(history.Response{Result: history.Granted, Token: token, Fresh: true, SafeUntil: s.at + 1010*time.Millisecond})
}

// trust records that the last call's client relies on the token for a second.
func (s *scenario) trust(token uint64) {
	s.believe(fmt.Sprintf("c%d", s.seq), token, s.at, s.at+time.Second)
}

func TestSupersede_OldAndNewTokenOfOneIdentity_CountAsOnePermit(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.trust(1) // the client is never notified of the loss
	s.supersede(s.request("a", "r2"), 2, 1)
	s.trust(2)
	s.call(history.Refresh, 2, history.Refreshed)
	s.call(history.Refresh, 1, history.Lost)
	s.call(history.Verify, 1, history.Invalid)
	s.call(history.Release, 1, history.Ended)
	s.begin(history.Request{Kind: history.Cancel, Identity: s.acquire("a").Identity, RequestID: "r1"})(history.Response{Result: history.Done})
	s.denied("b", "NO_FREE_PERMIT")
	s.supersede(s.request("a", ""), 3, 2)
	s.supersede(s.request("a", ""), 4, 3)
	s.wantNoViolations()
}

// The slot stays taken while the holder of the superseded token may still rely on it, even after the new token has
// ended.
func TestSupersede_NewTokenEnds_SlotStaysTakenUntilOldTokenLapses(t *testing.T) {
	for _, kind := range []history.Kind{history.Release, history.Cancel} {
		for _, after := range []time.Duration{0, time.Second} {
			s := newScenario(t, onePermit())
			s.fresh(s.request("a", "r1"), 1)
			s.trust(1)
			s.supersede(s.request("a", "r2"), 2, 1)
			if kind == history.Release {
				s.call(kind, 2, history.Released)
			} else {
				s.begin(history.Request{Kind: kind, Identity: s.acquire("a").Identity, RequestID: "r2"})(history.Response{Result: history.Done})
			}
			s.denied("c", "NO_FREE_PERMIT")
			s.advance(after)
			s.fresh(s.request("b", "r"), 3)
			s.trust(3)
			if after > 0 {
				s.wantNoViolations()
				continue
			}
			s.wantViolation(Exclusive, "token 1", "token 3")
			s.wantViolation(Linear, "token 3")
		}
	}
}

// The slot stays taken for the old holder even if that holder recorded no belief, unless the new request replaces its
// token.
func TestSupersede_NoBelief_SlotStaysTakenUnlessReplaced(t *testing.T) {
	for _, replaces := range []uint64{0, 1} {
		s := newScenario(t, onePermit())
		s.fresh(s.request("a", "r1"), 1)
		r := s.request("a", "r2")
		r.Replaces = replaces
		s.supersede(r, 2, 1)
		s.call(history.Release, 2, history.Released)
		s.fresh(s.request("b", "r"), 3)
		if replaces != 0 {
			s.wantNoViolations()
		} else {
			s.wantViolation(Linear, "token 3")
		}
	}
}

// The server measures the duration from the grant, but the holder measures it from its request, so the slot may stay
// taken briefly after the old holder's belief ends.
func TestSupersede_NewTokenEndsAfterOldLapsed_SlotMayBrieflyStayTaken(t *testing.T) {
	for _, replaces := range []uint64{0, 1} {
		s := newScenario(t, onePermit())
		s.fresh(s.request("a", "r1"), 1)
		s.advance(500 * time.Millisecond)
		r := s.request("a", "r2")
		r.Replaces = replaces
		s.supersede(r, 2, 1)
		s.advance(600 * time.Millisecond)
		s.call(history.Release, 2, history.Released)
		s.denied("c", "NO_FREE_PERMIT")
		s.fresh(s.request("b", "r"), 3)
		if replaces == 0 {
			s.wantNoViolations()
		} else {
			s.wantViolation(Linear, "NO_FREE_PERMIT")
		}
	}
}

// A token inherits the debt of the token that it supersedes.
func TestSupersede_OldTokenHasDebt_NewTokenInheritsIt(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.supersede(s.request("a", "r2"), 2, 1)
	r := s.request("a", "r3")
	r.Replaces = 2
	s.supersede(r, 3, 2)
	s.call(history.Release, 3, history.Released)
	s.fresh(s.request("b", "r"), 4)
	s.wantViolation(Linear, "token 4")
}

func TestSupersede_EndedOrStoppingPermit_IsCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.call(history.Release, 1, history.Released)
	s.supersede(s.request("a", "r2"), 2, 1)
	s.wantViolation(Linear, "token 2")

	s = newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.call(history.Revoke, 1, history.Done)
	s.supersede(s.request("a", "r2"), 2, 1)
	s.wantViolation(Linear, "token 2")
}

func TestSupersede_OldTokenRefreshedAfterwards_IsCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.supersede(s.request("a", "r2"), 2, 1)
	s.call(history.Refresh, 1, history.Refreshed)
	s.wantViolation(Linear, "refreshed token 1")
}

func TestSupersede_TwoPermitsOfOneIdentity_AreCaught(t *testing.T) {
	s := newScenario(t, history.Definition{Permits: 2, Duration: time.Second})
	s.fresh(s.request("a", "r1"), 1)
	s.fresh(s.request("a", "r2"), 2)
	s.wantViolation(Linear, "token 2")
}

func TestSupersede_HolderDeniedWithNoFreePermit_IsCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.begin(s.request("a", "r2"))(history.Response{Result: history.Denied, Reason: "NO_FREE_PERMIT"})
	s.wantViolation(Linear, "NO_FREE_PERMIT")
}

// A plain pause only stops new grants, and this holder already has a permit.
func TestSupersede_WhilePaused_IsAllowed(t *testing.T) {
	for _, stop := range []bool{false, true} {
		s := newScenario(t, onePermit())
		s.fresh(s.request("a", "r1"), 1)
		s.begin(history.Request{Kind: history.Pause, Stop: stop})(history.Response{Result: history.Done})
		s.supersede(s.request("a", "r2"), 2, 1)
		if !stop {
			s.wantNoViolations()
		} else {
			s.wantViolation(Linear, "token 2")
		}
	}
}

// An acquire without a response may have superseded a permit, and its own grant may have been released. The slot stays
// taken until the superseded token lapses.
func TestUnansweredAcquire_MayHaveSupersededPermit(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second} {
		s := newScenario(t, onePermit())
		s.fresh(s.request("a", "r1"), 1)
		s.begin(s.request("a", "r2"))
		s.call(history.Refresh, 1, history.Lost)
		s.denied("b", "NO_FREE_PERMIT")
		s.wantNoViolations()
		s.advance(after)
		s.fresh(s.request("b", "again"), 3)
		if after > 0 {
			s.wantNoViolations()
		} else {
			s.wantViolation(Linear, "token 3")
		}
	}
}

// A token whose response was lost can also be superseded.
func TestUnansweredAcquire_TokenMayBeSuperseded(t *testing.T) {
	s := newScenario(t, onePermit())
	s.fresh(s.request("a", "r1"), 1)
	s.begin(s.request("a", "r2"))
	s.supersede(s.request("a", "r3"), 3, 2)
	s.call(history.Refresh, 1, history.Lost)
	s.call(history.Release, 3, history.Released)
	s.wantNoViolations()
	s.fresh(s.request("b", "r"), 4) // a still relies on token 1
	s.wantViolation(Linear, "token 4")

	s = newScenario(t, onePermit())
	s.begin(s.request("a", "r1"))
	s.supersede(s.request("a", "r2"), 2, 1)
	s.denied("b", "NO_FREE_PERMIT")
	s.call(history.Release, 2, history.Released)
	s.fresh(s.request("b", "r"), 3) // no client relied on token 1
	s.wantNoViolations()
}

// In a history recorded with the client library, responses do not report superseded tokens.
func TestSupersede_Unreported_IsFound(t *testing.T) {
	s := newScenario(t, onePermit())
	s.granted(s.request("a", "r1"), 1)
	s.granted(s.request("a", "r2"), 2)
	s.call(history.Refresh, 1, history.Lost)
	s.call(history.Refresh, 2, history.Refreshed)
	s.wantNoViolations()
	s.call(history.Release, 2, history.Released)
	s.fresh(s.request("b", "r"), 3)
	s.wantViolation(Linear, "token 3")
}

func TestMinHold_NewToken_CountsFromFirstToken(t *testing.T) {
	def := onePermit()
	def.MinHold = 1500 * time.Millisecond
	s := newScenario(t, def)
	s.fresh(s.request("a", "r1"), 1)
	s.advance(900 * time.Millisecond)
	r := s.request("a", "r2")
	r.Replaces = 1
	s.supersede(r, 2, 1)
	s.call(history.Release, 2, history.Released)
	s.denied("b", "NO_FREE_PERMIT")
	s.advance(700 * time.Millisecond)
	s.fresh(s.request("b", "r"), 3)
	s.wantNoViolations()
}

func TestCancel_BeforeMinHold_LeavesSlotTaken(t *testing.T) {
	def := onePermit()
	def.MinHold = 3 * time.Second
	s := newScenario(t, def)
	s.grant("a", 1)
	s.begin(history.Request{Kind: history.Cancel, Identity: s.acquire("a").Identity, RequestID: "a"})(history.Response{Result: history.Done})
	s.grant("b", 2)
	s.wantViolation(Linear, "token 2")
}

func TestBeliefs_SameIdentity_CountOnceWithLargestWeight(t *testing.T) {
	s := newScenario(t, history.Definition{Permits: 3, Duration: time.Second})
	heavy := s.request("a", "r1")
	heavy.Weight = 2
	s.fresh(heavy, 1)
	holder := fmt.Sprintf("c%d", s.seq)
	s.entries = append(s.entries, history.Entry{Belief: &history.Belief{Client: holder, Semaphore: "s", Token: 1, Weight: 2, From: s.at, Until: s.at + time.Second}})
	s.call(history.Release, 1, history.Released)
	s.fresh(s.request("a", "r2"), 2)
	s.trust(2)
	s.fresh(s.request("b", "r"), 3)
	s.trust(3)
	s.wantNoViolations()
	s.fresh(s.request("c", "r"), 4)
	s.trust(4)
	s.wantViolation(Exclusive, "token 1 (weight 2)", "token 3", "token 4")
}

// Responses to one identity may arrive out of order, but a lower token for another identity is a violation.
func TestBeliefs_LowerTokenForAnotherIdentity_IsCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	late := s.begin(s.request("a", "r1"))
	s.supersede(s.request("a", "r2"), 2, 1)
	s.trust(2)
	late(history.Response{Result: history.Granted, Token: 1, Fresh: true, SafeUntil: s.at + time.Second})
	s.believe("c2", 1, s.at, s.at+500*time.Millisecond)
	s.wantNoViolations()
	s.advance(2 * time.Second)
	s.believe("x", 1, s.at, s.at+time.Second)
	s.wantViolation(IncreasingTokens, "x started holding token 1", "token 2")
}

func TestRequests_TwoWithSameToken_AreCaught(t *testing.T) {
	for _, ids := range [][2]string{{"r1", "r2"}, {"", ""}, {"r1", ""}} {
		s := newScenario(t, onePermit())
		s.granted(s.request("a", ids[0]), 1)
		s.granted(s.request("a", ids[1]), 1)
		s.wantViolation(OneGrant, "token 1")
	}
}

func TestSuccessors_InvalidSupersede_IsCaught(t *testing.T) {
	for name, run := range map[string]func(*scenario){
		"different identity": func(s *scenario) {
			s.fresh(s.request("a", "r1"), 1)
			s.supersede(s.request("b", "r2"), 2, 1)
		},
		"token with a firing": func(s *scenario) {
			r := s.request("a", "r1")
			r.Firing = "noon"
			s.fresh(r, 1)
			s.supersede(s.request("a", "r2"), 2, 1)
		},
		"successor with a firing": func(s *scenario) {
			r := s.request("a", "r2")
			r.Firing = "noon"
			s.supersede(r, 2, 1)
		},
		"different weight": func(s *scenario) {
			s.fresh(s.request("a", "r1"), 1)
			r := s.request("a", "r2")
			r.Weight = 2
			s.supersede(r, 2, 1)
		},
		"twice": func(s *scenario) {
			s.fresh(s.request("a", "r1"), 1)
			s.supersede(s.request("a", "r2"), 2, 1)
			s.supersede(s.request("a", "r3"), 3, 1)
		},
		"newer token": func(s *scenario) {
			s.supersede(s.request("a", "r1"), 1, 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, history.Definition{Permits: 3, Duration: time.Second})
			run(s)
			s.wantViolation(OneSuccessor)
		})
	}
}

// A process that restarts during its firing gets no special treatment when it claims the firing again.
func TestFirings_GrantedTwiceToSameIdentity_AreCaught(t *testing.T) {
	for _, freeOnLoss := range []bool{false, true} {
		def := onePermit()
		def.FreeOnLoss = freeOnLoss
		s := newScenario(t, def)
		r := s.request("a", "r1")
		r.Firing = "noon"
		s.fresh(r, 1)
		r.RequestID = "r2"
		s.begin(r)(history.Response{Result: history.Denied, Reason: "FIRING_CLAIMED"})
		s.wantNoViolations()
		s.advance(2 * time.Second)
		s.fresh(r, 2)
		if freeOnLoss {
			s.wantNoViolations()
		} else {
			s.wantViolation(FiringOnce, "token 1", "token 2")
		}
	}
}
