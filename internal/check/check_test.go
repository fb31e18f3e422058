package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

func onePermit() history.Definition { return history.Definition{Permits: 1, Duration: time.Second} }

func TestAll_SequentialCalls_HaveNoViolations(t *testing.T) {
	s := newScenario(t, onePermit())
	s.grant("a", 1)
	s.denied("b", "NO_FREE_PERMIT")
	s.call(history.Refresh, 1, history.Refreshed)
	s.call(history.Verify, 1, history.Valid)
	s.call(history.Release, 1, history.Released)
	s.call(history.Verify, 1, history.Invalid)
	s.call(history.Refresh, 1, history.Lost)
	s.grant("b", 2)
	s.advance(2 * time.Second)
	s.grant("c", 3) // possible because b's permit has expired
	s.call(history.Refresh, 2, history.Lost)
	s.call(history.Release, 2, history.Ended)
	s.wantNoViolations()
}

func TestLinearizable(t *testing.T) {
	for name, run := range map[string]func(*scenario){
		"GrantWhileAnotherHolderReliesOnPermit_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.grant("b", 2)
			s.wantViolation(Linear, "token 2")
		},
		"GrantBeforeRefreshedDeadline_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.advance(900 * time.Millisecond)
			s.call(history.Refresh, 1, history.Refreshed)
			s.advance(500 * time.Millisecond)
			s.grant("b", 2)
			s.wantViolation(Linear, "token 2")
		},
		"RefreshAfterGrantToAnother_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.advance(2 * time.Second)
			s.grant("b", 2)
			s.call(history.Refresh, 1, history.Refreshed) // so token 1 had not expired
			s.wantViolation(Linear, "granted token 2")
		},
		"RefreshAfterRelease_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Release, 1, history.Released)
			s.call(history.Refresh, 1, history.Refreshed)
			s.wantViolation(Linear, "refreshed token 1")
		},
		"VerifyAfterRelease_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Release, 1, history.Released)
			s.call(history.Verify, 1, history.Valid)
			s.wantViolation(Linear, "verified token 1")
		},
		"RefreshReportsLossBeforeDeadline_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Refresh, 1, history.Lost)
			s.wantViolation(Linear, "has ended token 1")
		},
		"ReleaseReportsEndBeforeDeadline_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Release, 1, history.Ended)
			s.wantViolation(Linear, "has ended token 1")
		},
		"DenialDespiteFreeSlot_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Release, 1, history.Released)
			s.denied("b", "NO_FREE_PERMIT")
			s.wantViolation(Linear, "NO_FREE_PERMIT")
		},
		"DenialAfterUnansweredAcquire_IsAllowed": func(s *scenario) {
			s.begin(s.acquire("a"))
			s.denied("b", "NO_FREE_PERMIT")
			s.advance(2 * time.Second)
			s.grant("c", 2)
			s.wantNoViolations()
		},
		"UnansweredRelease_MayHaveFreedSlot": func(s *scenario) {
			s.grant("a", 1)
			s.begin(history.Request{Kind: history.Release, Token: 1})
			s.denied("b", "NO_FREE_PERMIT")
			s.grant("b2", 2)
			s.wantNoViolations()
			s.call(history.Refresh, 1, history.Refreshed)
			s.wantViolation(Linear, "refreshed token 1")
		},
		"RetriedAcquire_MayHaveBeenGrantedByFirstCall": func(s *scenario) {
			s.begin(s.acquire("a"))
			s.denied("b", "NO_FREE_PERMIT")
			s.grant("a", 1)
			s.wantNoViolations()
		},
		"ConcurrentAcquires_AreOrderedByResponses": func(s *scenario) {
			var waiting []func(history.Response)
			for _, who := range []string{"a", "b", "c", "d"} {
				waiting = append(waiting, s.begin(s.acquire(who)))
			}
			for i := range waiting {
				token := uint64(i + 1)
				waiting[len(waiting)-1-i](history.Response{Result: history.Granted, Token: token, SafeUntil: s.at + time.Second})
				s.call(history.Release, token, history.Released)
			}
			s.wantNoViolations()
		},
		"GrantOutsidePattern_IsCaught": func(s *scenario) {
			elsewhere := onePermit()
			elsewhere.GroupPattern = "dr-.*"
			s.edit(10, 11, elsewhere)
			s.denied("a", "GROUP_MISMATCH")
			s.wantNoViolations()
			s.grant("b", 1)
			s.wantViolation(Linear, "token 1")
		},
		"RefreshAfterEditExcludesHolder_IsCaught": func(s *scenario) {
			elsewhere := onePermit()
			elsewhere.AcquirerPattern = "b"
			s.grant("a", 1)
			s.edit(10, 11, elsewhere)
			s.call(history.Refresh, 1, history.Refreshed)
			s.wantViolation(Linear, "refreshed token 1")
		},
		"RefreshAfterRevoke_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Revoke, 1, history.Done)
			s.call(history.Refresh, 1, history.Stopping)
			s.wantNoViolations()
			s.call(history.Refresh, 1, history.Refreshed)
			s.wantViolation(Linear, "refreshed token 1")
		},
		"SlotFreedByRevoke_IsCaught": func(s *scenario) {
			s.grant("a", 1)
			s.call(history.Revoke, 1, history.Done)
			s.grant("b", 2)
			s.wantViolation(Linear, "token 2")
		},
		"GrantWhilePaused_IsCaught": func(s *scenario) {
			s.call(history.Pause, 0, history.Done)
			s.denied("a", "PAUSED")
			s.call(history.Resume, 0, history.Done)
			s.grant("a", 1)
			s.call(history.Release, 1, history.Released)
			s.call(history.Pause, 0, history.Done)
			s.wantNoViolations()
			s.grant("b", 2)
			s.wantViolation(Linear, "token 2")
		},
		"UnansweredEdit_MayHaveBeenApplied": func(s *scenario) {
			none := onePermit()
			none.Permits = 0
			s.begin(history.Request{Kind: history.Edit, Definition: &none, ExpectedVersion: 10})
			s.grant("a", 1)
			s.call(history.Release, 1, history.Released)
			s.denied("b", "NO_FREE_PERMIT")
			s.wantNoViolations()
			s.grant("c", 2) // but the denial shows that the edit was applied
			s.wantViolation(Linear, "token 2")
		},
		"TwoEditsOfSameVersion_AreCaught": func(s *scenario) {
			s.edit(10, 11, onePermit())
			s.edit(10, 12, onePermit())
			s.wantViolation(Linear, "version 12")
		},
	} {
		t.Run(name, func(t *testing.T) { run(newScenario(t, onePermit())) })
	}
}

func TestLinearizable_Weight_CountsAgainstPermits(t *testing.T) {
	def := history.Definition{Permits: 3, Duration: time.Second}
	heavy := func(s *scenario, who string, weight uint32, token uint64) {
		r := s.acquire(who)
		r.Weight = weight
		s.granted(r, token)
	}
	s := newScenario(t, def)
	heavy(s, "a", 2, 1)
	heavy(s, "b", 1, 2)
	s.denied("c", "NO_FREE_PERMIT")
	s.wantNoViolations()
	s = newScenario(t, def)
	heavy(s, "a", 2, 1)
	heavy(s, "b", 2, 2)
	s.wantViolation(Linear, "token 2 weight 2")
}

func TestLinearizable_GrantAfterTwoPossibleExpiries_EndsOnePermit(t *testing.T) {
	s := newScenario(t, history.Definition{Permits: 2, Duration: time.Second})
	s.grant("a", 1)
	s.grant("b", 2)
	s.advance(2 * time.Second)
	s.grant("c", 3)
	s.call(history.Refresh, 2, history.Refreshed)
	s.wantNoViolations()
	s.call(history.Refresh, 1, history.Refreshed) // so no permit was free for c
	s.wantViolation(Linear, "granted token 3")
}

func TestLinearizable_LoweredPermits_ApplyToLaterGrants(t *testing.T) {
	s := newScenario(t, history.Definition{Permits: 2, Duration: time.Second})
	s.grant("a", 1)
	s.grant("b", 2)
	s.edit(10, 11, onePermit())
	s.call(history.Refresh, 1, history.Refreshed)
	s.call(history.Release, 1, history.Released)
	s.denied("c", "NO_FREE_PERMIT")
	s.wantNoViolations()
	s.grant("d", 3)
	s.wantViolation(Linear, "token 3")
}

func TestLinearizable_LostAcknowledgedEdit_IsCaught(t *testing.T) {
	def := onePermit()
	s := newScenario(t, def)
	s.begin(history.Request{Kind: history.Read})(history.Response{Result: history.Done, Revision: 10, Definition: &def})
	wider := history.Definition{Permits: 2, Duration: time.Second}
	s.edit(10, 11, wider)
	s.wantNoViolations()
	s.begin(history.Request{Kind: history.Read})(history.Response{Result: history.Done, Revision: 10, Definition: &def})
	s.wantViolation(Linear, "read")
}

func TestLinearizable_CoolingSlot_StaysTaken(t *testing.T) {
	def := onePermit()
	def.MinHold = 3 * time.Second
	s := newScenario(t, def)
	s.grant("a", 1)
	s.call(history.Release, 1, history.Released)
	s.advance(time.Second)
	s.denied("b", "NO_FREE_PERMIT")
	s.advance(2 * time.Second)
	s.grant("b2", 2)
	s.wantNoViolations()
	s.call(history.Release, 2, history.Released)
	s.grant("c", 3)
	s.wantViolation(Linear, "token 3")
}

func TestLinearizable_SlotAfterLoss_StaysTakenForLossDelay(t *testing.T) {
	def := onePermit()
	def.LossDelay = 3 * time.Second
	s := newScenario(t, def)
	s.grant("a", 1)
	s.advance(2 * time.Second)
	s.call(history.Refresh, 1, history.Lost)
	s.wantNoViolations()
	s.grant("b", 2)
	s.wantViolation(Linear, "token 2")
}

func TestLinearizable_SlotHeldForOperator_StaysTakenUntilCleared(t *testing.T) {
	held := onePermit()
	held.HoldOnExpiry = true
	s := newScenario(t, held)
	s.grant("a", 1)
	s.advance(time.Hour)
	s.denied("b", "NO_FREE_PERMIT")
	s.call(history.Clear, 1, history.Done)
	s.grant("b2", 2)
	s.wantNoViolations()
	s.advance(time.Hour)
	s.grant("c", 3)
	s.wantViolation(Linear, "token 3")
}

func TestBeliefs_ExceedingPermits_AreCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.believe("a", 1, time.Second, 3*time.Second)
	s.believe("b", 2, 3*time.Second, 4*time.Second)
	s.wantNoViolations()
	s.believe("c", 3, 3*time.Second, 5*time.Second)
	s.wantViolation(Exclusive, "b with token 2", "c with token 3")
}

// A holder whose duration is shortened may set ReliedUntil to an earlier time. If it only ends its belief, its permit
// must not expire before the original deadline.
func TestExpiry_HolderShortensReliance_AllowsEarlierGrant(t *testing.T) {
	for _, explicit := range []bool{true, false} {
		s := newScenario(t, onePermit())
		s.grant("a", 1)
		holder := fmt.Sprintf("c%d", s.seq)
		belief := history.Belief{Client: holder, Semaphore: "s", Token: 1, Weight: 1, From: s.at, Until: s.at + 990*time.Millisecond}
		s.entries = append(s.entries, history.Entry{Belief: &belief})
		shorter := belief
		shorter.Until = s.at + 200*time.Millisecond
		if explicit {
			shorter.ReliedUntil = shorter.Until
		}
		s.entries = append(s.entries, history.Entry{Belief: &shorter})
		s.advance(300 * time.Millisecond)
		s.grant("b", 2)
		if explicit {
			s.wantNoViolations()
		} else {
			s.wantViolation(Linear, "token 2")
		}
	}
}

func TestBeliefs_AfterClientDeath_AreIgnored(t *testing.T) {
	s := newScenario(t, onePermit())
	s.believe("a", 1, time.Second, 3*time.Second)
	s.entries = append(s.entries, history.Entry{Death: &history.Death{Client: "a", At: 2 * time.Second}})
	s.believe("b", 2, 2*time.Second, 4*time.Second)
	s.wantNoViolations()
}

// An operator may repeat an unsafe revocation. The first one already ends the permit.
func TestBeliefs_UnsafeRevocationRepeated_FirstOneCounts(t *testing.T) {
	def := onePermit()
	def.FreeOnLoss = true
	s := newScenario(t, def)
	revoke := func() {
		s.begin(history.Request{Kind: history.Revoke, Token: 1, UnsafeNow: true})(history.Response{Result: history.Done, Revision: 1})
	}
	s.fire("a", 1)
	s.believe("a", 1, s.at, s.at+900*time.Millisecond)
	s.advance(100 * time.Millisecond)
	revoke()
	s.fire("b", 2)
	s.believe("b", 2, s.at, s.at+900*time.Millisecond)
	s.advance(100 * time.Millisecond)
	revoke()
	s.wantNoViolations()
}

func TestBeliefs_UnsafeRevocationRefused_EndsNothing(t *testing.T) {
	def := onePermit()
	def.FreeOnLoss = true
	s := newScenario(t, def)
	s.fire("a", 1)
	s.believe("a", 1, s.at, s.at+900*time.Millisecond)
	record := func(e history.Entry) { s.entries = append(s.entries, e) }
	refused := history.NewRecorder("operator", s.now, record).Call(history.Request{Kind: history.Revoke, Semaphore: "s", Token: 1, UnsafeNow: true})
	refused(history.Refused, history.Response{}, nil)
	s.advance(100 * time.Millisecond)
	s.fire("b", 2)
	s.believe("b", 2, s.at, s.at+900*time.Millisecond)
	s.wantViolation(FiringOnce, "token 1", "token 2")
	s.wantViolation(Exclusive, "a with token 1", "b with token 2")
}

func TestTokens_LaterGrantWithLowerToken_IsCaught(t *testing.T) {
	s := newScenario(t, history.Definition{Permits: 2, Duration: time.Second})
	s.grant("a", 7)
	s.grant("b", 5)
	s.wantViolation(IncreasingTokens, "token 5", "token 7")
}

func TestTokens_GrantedTwice_AreCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.grant("a", 7)
	s.call(history.Release, 7, history.Released)
	s.grant("b", 7)
	s.wantViolation(IncreasingTokens, "token 7 was granted to")
}

func TestRequests_GrantedTwice_AreCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	s.grant("a", 1)
	s.call(history.Release, 1, history.Released)
	s.grant("a", 2)
	s.wantViolation(OneGrant, "token 1 and token 2")
}

func TestStates_DifferentAtSameIndex_AreCaught(t *testing.T) {
	s := newScenario(t, onePermit())
	put := func(member string, index uint64, hash string) {
		s.entries = append(s.entries, history.Entry{State: &history.State{Member: member, Index: index, Hash: hash}})
	}
	put("gk1", 5, "aa")
	put("gk2", 5, "aa")
	put("gk2", 6, "bb")
	s.wantNoViolations()
	put("gk3", 6, "cc")
	s.wantViolation(SameState, "gk2", "gk3")
}
