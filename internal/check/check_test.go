package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

func one() history.Definition { return history.Definition{Permits: 1, Duration: time.Second} }

func TestAll_SequentialCalls_Hold(t *testing.T) {
	s := newStory(t, one())
	s.grant("a", 1)
	s.denied("b", "NO_FREE_PERMIT")
	s.ask(history.Refresh, 1, history.Refreshed)
	s.ask(history.Verify, 1, history.Valid)
	s.ask(history.Release, 1, history.Released)
	s.ask(history.Verify, 1, history.Invalid)
	s.ask(history.Refresh, 1, history.Lost)
	s.grant("b", 2)
	s.pass(2 * time.Second)
	s.grant("c", 3) // possible because b's permit has expired
	s.ask(history.Refresh, 2, history.Lost)
	s.ask(history.Release, 2, history.Ended)
	s.holds()
}

func TestLinearizable(t *testing.T) {
	for name, tell := range map[string]func(*story){
		"GrantWhileAnotherHolderReliesOnPermit_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.grant("b", 2)
			s.breaks(Linear, "token 2")
		},
		"GrantBeforeRefreshedDeadline_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.pass(900 * time.Millisecond)
			s.ask(history.Refresh, 1, history.Refreshed)
			s.pass(500 * time.Millisecond)
			s.grant("b", 2)
			s.breaks(Linear, "token 2")
		},
		"RefreshAfterGrantToAnother_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.pass(2 * time.Second)
			s.grant("b", 2)
			s.ask(history.Refresh, 1, history.Refreshed) // so it had not expired
			s.breaks(Linear, "granted token 2")
		},
		"RefreshAfterRelease_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Release, 1, history.Released)
			s.ask(history.Refresh, 1, history.Refreshed)
			s.breaks(Linear, "refreshed token 1")
		},
		"VerifyAfterRelease_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Release, 1, history.Released)
			s.ask(history.Verify, 1, history.Valid)
			s.breaks(Linear, "verified token 1")
		},
		"RefreshReportsLossBeforeDeadline_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Refresh, 1, history.Lost)
			s.breaks(Linear, "has ended token 1")
		},
		"ReleaseReportsEndBeforeDeadline_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Release, 1, history.Ended)
			s.breaks(Linear, "has ended token 1")
		},
		"DenialDespiteFreeSlot_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Release, 1, history.Released)
			s.denied("b", "NO_FREE_PERMIT")
			s.breaks(Linear, "NO_FREE_PERMIT")
		},
		"DenialAfterUnansweredAcquire_IsAllowed": func(s *story) {
			s.begin(s.acquire("a"))
			s.denied("b", "NO_FREE_PERMIT")
			s.pass(2 * time.Second)
			s.grant("c", 2)
			s.holds()
		},
		"UnansweredRelease_MayOrMayNotHaveFreedSlot": func(s *story) {
			s.grant("a", 1)
			s.begin(history.Request{Kind: history.Release, Token: 1})
			s.denied("b", "NO_FREE_PERMIT")
			s.grant("b2", 2)
			s.holds()
			s.ask(history.Refresh, 1, history.Refreshed)
			s.breaks(Linear, "refreshed token 1")
		},
		"RetriedAcquire_MayHaveBeenGrantedByFirstCall": func(s *story) {
			s.begin(s.acquire("a"))
			s.denied("b", "NO_FREE_PERMIT")
			s.grant("a", 1)
			s.holds()
		},
		"ConcurrentAcquires_AreOrderedByResponses": func(s *story) {
			var waiting []func(history.Response)
			for _, who := range []string{"a", "b", "c", "d"} {
				waiting = append(waiting, s.begin(s.acquire(who)))
			}
			for i := range waiting {
				token := uint64(i + 1)
				waiting[len(waiting)-1-i](history.Response{Result: history.Granted, Token: token, SafeUntil: s.at + time.Second})
				s.ask(history.Release, token, history.Released)
			}
			s.holds()
		},
		"GrantOutsidePattern_IsCaught": func(s *story) {
			elsewhere := one()
			elsewhere.GroupPattern = "dr-.*"
			s.edit(10, 11, elsewhere)
			s.denied("a", "GROUP_MISMATCH")
			s.holds()
			s.grant("b", 1)
			s.breaks(Linear, "token 1")
		},
		"RefreshAfterEditExcludesHolder_IsCaught": func(s *story) {
			elsewhere := one()
			elsewhere.AcquirerPattern = "b"
			s.grant("a", 1)
			s.edit(10, 11, elsewhere)
			s.ask(history.Refresh, 1, history.Refreshed)
			s.breaks(Linear, "refreshed token 1")
		},
		"RefreshAfterRevoke_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Revoke, 1, history.Done)
			s.ask(history.Refresh, 1, history.Stopping)
			s.holds()
			s.ask(history.Refresh, 1, history.Refreshed)
			s.breaks(Linear, "refreshed token 1")
		},
		"SlotFreedByRevoke_IsCaught": func(s *story) {
			s.grant("a", 1)
			s.ask(history.Revoke, 1, history.Done)
			s.grant("b", 2)
			s.breaks(Linear, "token 2")
		},
		"GrantWhilePaused_IsCaught": func(s *story) {
			s.ask(history.Pause, 0, history.Done)
			s.denied("a", "PAUSED")
			s.ask(history.Resume, 0, history.Done)
			s.grant("a", 1)
			s.ask(history.Release, 1, history.Released)
			s.ask(history.Pause, 0, history.Done)
			s.holds()
			s.grant("b", 2)
			s.breaks(Linear, "token 2")
		},
		"UnansweredEdit_MayOrMayNotBeInForce": func(s *story) {
			none := one()
			none.Permits = 0
			s.begin(history.Request{Kind: history.Edit, Definition: &none, ExpectedVersion: 10})
			s.grant("a", 1)
			s.ask(history.Release, 1, history.Released)
			s.denied("b", "NO_FREE_PERMIT")
			s.holds()
			s.grant("c", 2) // the definition was in force and was not reverted
			s.breaks(Linear, "token 2")
		},
		"TwoEditsOfSameVersion_AreCaught": func(s *story) {
			s.edit(10, 11, one())
			s.edit(10, 12, one())
			s.breaks(Linear, "version 12")
		},
	} {
		t.Run(name, func(t *testing.T) { tell(newStory(t, one())) })
	}
}

func TestLinearizable_Weight_CountsAgainstThePermits(t *testing.T) {
	def := history.Definition{Permits: 3, Duration: time.Second}
	heavy := func(s *story, who string, weight uint32, token uint64) {
		r := s.acquire(who)
		r.Weight = weight
		s.granted(r, token)
	}
	s := newStory(t, def)
	heavy(s, "a", 2, 1)
	heavy(s, "b", 1, 2)
	s.denied("c", "NO_FREE_PERMIT")
	s.holds()
	s = newStory(t, def)
	heavy(s, "a", 2, 1)
	heavy(s, "b", 2, 2)
	s.breaks(Linear, "token 2 weight 2")
}

func TestLinearizable_GrantAfterTwoPossibleExpiries_EndsOneOfThePermits(t *testing.T) {
	s := newStory(t, history.Definition{Permits: 2, Duration: time.Second})
	s.grant("a", 1)
	s.grant("b", 2)
	s.pass(2 * time.Second)
	s.grant("c", 3)
	s.ask(history.Refresh, 2, history.Refreshed)
	s.holds()
	s.ask(history.Refresh, 1, history.Refreshed) // so no permit was free for c
	s.breaks(Linear, "granted token 3")
}

func TestLinearizable_LoweredPermits_CountForLaterGrants(t *testing.T) {
	s := newStory(t, history.Definition{Permits: 2, Duration: time.Second})
	s.grant("a", 1)
	s.grant("b", 2)
	s.edit(10, 11, one())
	s.ask(history.Refresh, 1, history.Refreshed)
	s.ask(history.Release, 1, history.Released)
	s.denied("c", "NO_FREE_PERMIT")
	s.holds()
	s.grant("d", 3)
	s.breaks(Linear, "token 3")
}

func TestLinearizable_LostAcknowledgedEdit_IsCaught(t *testing.T) {
	def := one()
	s := newStory(t, def)
	s.begin(history.Request{Kind: history.Read})(history.Response{Result: history.Done, Revision: 10, Definition: &def})
	wider := history.Definition{Permits: 2, Duration: time.Second}
	s.edit(10, 11, wider)
	s.holds()
	s.begin(history.Request{Kind: history.Read})(history.Response{Result: history.Done, Revision: 10, Definition: &def})
	s.breaks(Linear, "read")
}

func TestLinearizable_CoolingSlot_IsTaken(t *testing.T) {
	cools := one()
	cools.MinHold = 3 * time.Second
	s := newStory(t, cools)
	s.grant("a", 1)
	s.ask(history.Release, 1, history.Released)
	s.pass(time.Second)
	s.denied("b", "NO_FREE_PERMIT")
	s.pass(2 * time.Second)
	s.grant("b2", 2)
	s.holds()
	s.ask(history.Release, 2, history.Released)
	s.grant("c", 3)
	s.breaks(Linear, "token 3")
}

func TestLinearizable_SlotAfterALoss_IsTakenForTheLossDelay(t *testing.T) {
	cools := one()
	cools.LossDelay = 3 * time.Second
	s := newStory(t, cools)
	s.grant("a", 1)
	s.pass(2 * time.Second)
	s.ask(history.Refresh, 1, history.Lost)
	s.holds()
	s.grant("b", 2)
	s.breaks(Linear, "token 2")
}

func TestLinearizable_SlotHeldForAnOperator_IsTakenUntilItIsCleared(t *testing.T) {
	held := one()
	held.HoldOnExpiry = true
	s := newStory(t, held)
	s.grant("a", 1)
	s.pass(time.Hour)
	s.denied("b", "NO_FREE_PERMIT")
	s.ask(history.Clear, 1, history.Done)
	s.grant("b2", 2)
	s.holds()
	s.pass(time.Hour)
	s.grant("c", 3)
	s.breaks(Linear, "token 3")
}

func TestBeliefs_MoreThanThePermits_AreCaught(t *testing.T) {
	s := newStory(t, one())
	s.believe("a", 1, time.Second, 3*time.Second)
	s.believe("b", 2, 3*time.Second, 4*time.Second)
	s.holds()
	s.believe("c", 3, 3*time.Second, 5*time.Second)
	s.breaks(Exclusive, "b with token 2", "c with token 3")
}

// A holder whose duration is shortened may state that it now relies on the permit for less time. If it ends its belief
// without stating so, its permit must not expire before the original deadline.
func TestExpiry_HolderReliesForLessTime_MayComeEarlier(t *testing.T) {
	for _, says := range []bool{true, false} {
		s := newStory(t, one())
		s.grant("a", 1)
		holder := fmt.Sprintf("c%d", s.seq)
		line := history.Belief{Client: holder, Semaphore: "s", Token: 1, Weight: 1, From: s.at, Until: s.at + 990*time.Millisecond}
		s.entries = append(s.entries, history.Entry{Belief: &line})
		less := line
		less.Until = s.at + 200*time.Millisecond
		if says {
			less.Counted = less.Until
		}
		s.entries = append(s.entries, history.Entry{Belief: &less})
		s.pass(300 * time.Millisecond)
		s.grant("b", 2)
		if says {
			s.holds()
		} else {
			s.breaks(Linear, "token 2")
		}
	}
}

func TestBeliefs_DeadClient_BelievesNothing(t *testing.T) {
	s := newStory(t, one())
	s.believe("a", 1, time.Second, 3*time.Second)
	s.entries = append(s.entries, history.Entry{Death: &history.Death{Client: "a", At: 2 * time.Second}})
	s.believe("b", 2, 2*time.Second, 4*time.Second)
	s.holds()
}

func TestTokens_LaterGrantWithALowerToken_IsCaught(t *testing.T) {
	s := newStory(t, history.Definition{Permits: 2, Duration: time.Second})
	s.grant("a", 7)
	s.grant("b", 5)
	s.breaks(RisingTokens, "token 5", "token 7")
}

func TestTokens_GrantedTwice_AreCaught(t *testing.T) {
	s := newStory(t, one())
	s.grant("a", 7)
	s.ask(history.Release, 7, history.Released)
	s.grant("b", 7)
	s.breaks(RisingTokens, "token 7 was granted to")
}

func TestRequests_GrantedTwice_AreCaught(t *testing.T) {
	s := newStory(t, one())
	s.grant("a", 1)
	s.ask(history.Release, 1, history.Released)
	s.grant("a", 2)
	s.breaks(OneGrant, "token 1 and token 2")
}

func TestStates_DifferentAtOneIndex_AreCaught(t *testing.T) {
	s := newStory(t, one())
	put := func(member string, index uint64, hash string) {
		s.entries = append(s.entries, history.Entry{State: &history.State{Member: member, Index: index, Hash: hash}})
	}
	put("gk1", 5, "aa")
	put("gk2", 5, "aa")
	put("gk2", 6, "bb")
	s.holds()
	put("gk3", 6, "cc")
	s.breaks(SameState, "gk2", "gk3")
}
