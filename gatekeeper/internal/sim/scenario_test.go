package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Each scenario recreates a dangerous situation that the protocol must handle. In each of them, at least one of the
// mutants in .ci/mutants violates a guarantee.

func TestDeposedLeader_NotifiedLate_StopsAnswering(t *testing.T) { scenario(t, 12, deposed) }
func TestRelease_AfterPermitEnded_FreesNothing(t *testing.T)     { scenario(t, 1, lateRelease) }
func TestLeader_CrashesWhileResponding_GrantSurvives(t *testing.T) {
	scenario(t, 12, crashesWhileResponding)
}
func TestExpiry_AppendedInLaterTerm_IsRefused(t *testing.T) { scenario(t, 3, lateExpiry) }
func TestSlowResponse_DurationStartsAtCall(t *testing.T)    { scenario(t, 1, slowResponse) }
func TestDuration_ShortenedUnnoticed_OldDurationIsHonored(t *testing.T) {
	scenario(t, 1, shortenedUnnoticed)
}
func TestRevokedHolder_DoesNotStop_KeepsSlot(t *testing.T)    { scenario(t, 1, revokedHolder) }
func TestTakenOverHolder_DoesNotStop_KeepsSlot(t *testing.T)  { scenario(t, 1, takenOverHolder) }
func TestGrantedCall_ContextEnds_PermitIsKept(t *testing.T)   { scenario(t, 1, holdWhileWaiting) }
func TestCancel_EarlierRequest_KeepsLaterPermit(t *testing.T) { scenario(t, 1, lateCancel) }
func TestRelease_SupersededToken_FreesNothing(t *testing.T)   { scenario(t, 1, releaseAfterReacquire) }
func TestSupersededHolder_NotNotified_SlotRemainsTaken(t *testing.T) {
	scenario(t, 1, supersededUnnoticed)
}
func TestLeader_LosesWrite_HasNotAcknowledgedIt(t *testing.T)  { scenario(t, 6, lostWrite) }
func TestSlowClock_HolderStopsBeforeServerExpiry(t *testing.T) { scenario(t, 1, slowClock) }

// scenario runs act once for each phase, and fails if a guarantee is violated. A phase shifts one event relative to the
// others. The timing of client requests is partly random, so -repeat runs all phases several times, until a guarantee
// is violated.
func scenario(t *testing.T, phases int, act func(s *stage, phase int)) {
	t.Parallel()
	for round := range option[int](t, "repeat") {
		for phase := range phases {
			for _, violated := range runPhase(t, phase, act) {
				t.Errorf("round %d, phase and seed %d: %s", round+1, phase, violated)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// stage is a scenario's world, in which only the scenario itself makes requests and injects faults.
type stage struct {
	*world
	a, b *process // on two machines
}

// runPhase runs one phase and returns the violated guarantees.
func runPhase(t *testing.T, phase int, act func(s *stage, phase int)) []string {
	t.Helper()
	var w *world
	inBubble(t, func(t *testing.T) {
		w = newWorld(&plan{seed: uint64(phase), members: 3, profile: gatekeeper.ProfileDefault, rates: []float64{1, 1, 1, 1}})
		for _, m := range w.members {
			w.must(m.start())
		}
		w.operator = &operator{w.newProcess("ops", "prod", 1, 1), rngFor(uint64(phase), "operator")}
		w.operator.create()
		s := &stage{w, w.newProcess(machine(0), "prod", 1, 1), w.newProcess(machine(1), "prod", 1, 1)}
		act(s, phase)
		for _, m := range w.members {
			w.must(m.start())
		}
		s.a.end()
		s.b.end()
		w.settle()
		w.operator.end()
		for _, m := range w.members {
			m.stop()
		}
	})
	violated, _ := w.check()
	return violated
}

// concurrently runs the parts concurrently, and returns when all have finished.
func (s *stage) concurrently(parts ...func()) {
	done := make(chan struct{})
	for _, part := range parts {
		go func() { part(); done <- struct{}{} }()
	}
	for range parts {
		<-done
	}
}

// awaitLeader waits for a leader and returns it.
func (s *stage) awaitLeader() *member {
	for range 100 {
		if id := s.serverLog.leader(); id != "" {
			return s.members[slices.IndexFunc(s.members, func(m *member) bool { return m.id == id })]
		}
		advance(100 * time.Millisecond)
	}
	s.failf("timed out waiting for a leader")
	return s.members[0]
}

// cutOffExcept cuts a machine off from all members except the given one, which may be nil.
func (s *stage) cutOffExcept(machine string, m *member) (heal func()) {
	var links []link
	for _, other := range s.members {
		if other != m {
			links = append(links, link{machine, other.id}, link{other.id, machine})
		}
	}
	return s.net.cut(links)
}

func (s *stage) transfer() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_, _ = s.operator.client.Cluster().TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{}) // the scenario may drop the response
}

// waitAndHold waits in the queue for a permit, and then holds it.
func (s *stage) waitAndHold(p *process, semaphore string, hold time.Duration) {
	p.run(jobSpec{semaphore: semaphore, weight: 1, wait: 8 * time.Second, hold: hold, ignoresStop: true}, rngFor(s.plan.seed, p.acquirer))
}

func (s *stage) hold(p *process, semaphore string, hold time.Duration) {
	p.run(jobSpec{semaphore: semaphore, weight: 1, hold: hold, ignoresStop: true}, rngFor(s.plan.seed, p.acquirer))
}

// deposed delays all messages to the leader and transfers leadership, so that the leader notices late that it has been
// deposed. In the meantime, a holder that can reach only this leader refreshes its permit.
func deposed(s *stage, phase int) {
	leader := s.awaitLeader()
	defer s.cutOffExcept(s.a.acquirer, leader)()
	s.concurrently(
		func() {
			s.a.run(jobSpec{semaphore: singleSem, weight: 1, hold: 2 * time.Second, refresh: true, ignoresStop: true}, rngFor(s.plan.seed, s.a.acquirer))
		},
		func() {
			advance(time.Second)
			defer s.net.degrade(s.links(leader, false, true, false), 230*time.Millisecond, 0)()
			// The transfer itself takes half a second, because messages to the leader are delayed.
			advance(250*time.Millisecond + time.Duration(phase)*25*time.Millisecond)
			s.concurrently(s.transfer, func() {
				advance(780 * time.Millisecond)
				defer s.cutOffExcept(s.a.acquirer, nil)()
				advance(6 * time.Second)
			})
		},
		func() {
			advance(2500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, 2*time.Second)
		},
	)
}

// lateRelease cuts a holder off until its permit has expired and another holder has the slot. Then the first holder's
// release arrives.
func lateRelease(s *stage, _ int) {
	s.concurrently(
		func() { s.hold(s.a, lockstepSem, 1500*time.Millisecond) },
		func() {
			advance(500 * time.Millisecond)
			heal := s.cutOffExcept(s.a.acquirer, nil)
			advance(1200 * time.Millisecond)
			heal()
		},
		func() {
			advance(700 * time.Millisecond)
			s.waitAndHold(s.b, lockstepSem, 4*time.Second)
		},
	)
}

// crashesWhileResponding crashes the leader after it has granted a permit, but before the other members have received
// the new commit index. The next leader has the entry in its log but not in its state, and its disk stalls when it is
// elected.
func crashesWhileResponding(s *stage, phase int) {
	leader := s.awaitLeader()
	long := definition(singleSem)
	long.Duration = durationpb.New(6 * time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.replace(ctx, long)
	s.serverLog.setOnElectionWon(func(server string) {
		for _, m := range s.members {
			if m.id == server && m != leader {
				resumeDisk := m.disk.stall()
				time.AfterFunc(700*time.Millisecond, resumeDisk)
			}
		}
	})
	defer s.serverLog.setOnElectionWon(nil)
	s.concurrently(
		func() { s.hold(s.a, singleSem, 8*time.Second) },
		func() {
			advance(10*time.Millisecond + time.Duration(phase)*3*time.Millisecond)
			leader.crash(true)
			advance(8 * time.Second)
		},
		func() {
			advance(2500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// lostWrite stalls the leader's disk, so that one follower has stored a grant's entry but the leader has not. The
// leader crashes, loses the entry, and forms a majority with the other follower.
func lostWrite(s *stage, _ int) {
	leader := s.awaitLeader()
	var followers []*member
	for _, m := range s.members {
		if m != leader {
			followers = append(followers, m)
		}
	}
	long := definition(singleSem)
	long.Duration = durationpb.New(6 * time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.replace(ctx, long)
	healFollower := s.net.cut([]link{{leader.id, followers[1].id}, {followers[1].id, leader.id}})
	resumeDisk := leader.disk.stall()
	s.concurrently(
		func() { s.hold(s.a, singleSem, 8*time.Second) },
		func() {
			advance(time.Second)
			defer s.cutOffExcept(s.a.acquirer, nil)()
			defer s.net.cut(s.links(followers[0], true, true, true))()
			leader.crash(true)
			healFollower()
			resumeDisk()
			s.must(leader.start())
			advance(8 * time.Second)
		},
		func() {
			advance(1500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// lateExpiry transfers leadership without the old leader noticing. By the old leader's clock, a permit has expired,
// although the new leader has refreshed it. The old leader proposes the expiry, and the entry is appended when it leads
// again.
func lateExpiry(s *stage, phase int) {
	leader := s.awaitLeader()
	s.concurrently(
		func() { s.hold(s.a, lockstepSem, 9*time.Second) },
		func() {
			advance(time.Second + time.Duration(phase)*40*time.Millisecond)
			healLeader := s.net.cut(s.links(leader, false, true, false))
			healHolder := s.net.cut([]link{{s.a.acquirer, leader.id}, {leader.id, s.a.acquirer}})
			s.transfer()
			advance(2 * time.Second)
			healLeader()
			advance(2 * time.Second)
			for range 10 { // until it leads again
				if s.awaitLeader() == leader {
					break
				}
				s.transfer()
				advance(300 * time.Millisecond)
			}
			healHolder()
		},
		func() {
			advance(2 * time.Second)
			s.waitAndHold(s.b, lockstepSem, time.Second)
		},
	)
}

// slowResponse delays the response to an acquire by 40% of the permit's duration, and then cuts the holder off.
func slowResponse(s *stage, _ int) {
	var back []link
	for _, m := range s.members {
		back = append(back, link{m.id, s.a.acquirer})
	}
	// Establish the connections before the network becomes slow.
	s.hold(s.a, lockstepSem, time.Millisecond)
	restoreSpeed := s.net.degrade(back, 800*time.Millisecond, 0)
	s.concurrently(
		func() { s.hold(s.a, singleSem, 8*time.Second) },
		func() {
			advance(810 * time.Millisecond)
			defer s.cutOffExcept(s.a.acquirer, nil)()
			restoreSpeed()
			advance(8 * time.Second)
		},
		func() {
			advance(500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// shortenedUnnoticed shortens a definition's duration. The holder's next frame reaches the leader, but the response
// does not reach the holder. Then the leader crashes.
func shortenedUnnoticed(s *stage, _ int) {
	leader := s.awaitLeader()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	long := definition(singleSem)
	long.Duration = durationpb.New(6 * time.Second)
	s.replace(ctx, long)
	var back []link
	for _, m := range s.members {
		back = append(back, link{m.id, s.a.acquirer})
	}
	s.concurrently(
		func() { s.hold(s.a, singleSem, 20*time.Second) },
		func() {
			advance(1500 * time.Millisecond) // after one refresh, the holder relies on six seconds
			short := definition(singleSem)
			short.Duration = durationpb.New(300 * time.Millisecond)
			s.replace(ctx, short)
			defer s.net.cut(back)()
			advance(2600 * time.Millisecond) // a frame has arrived
			leader.crash(true)
			advance(15 * time.Second)
		},
		func() {
			advance(4500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

func (s *stage) replace(ctx context.Context, d *gatekeeperv1.Definition) {
	got, err := s.operator.client.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: d.GetName()})
	s.must(err)
	s.operator.edit(d.GetName(), got.GetRecord().GetVersion(), d, 0, 0)
}

// revokedHolder revokes the permit of a holder that does not stop.
func revokedHolder(s *stage, _ int) {
	s.concurrently(
		func() { s.hold(s.a, singleSem, 6*time.Second) },
		func() {
			advance(time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			for _, p := range s.operator.holders(ctx, singleSem) {
				_, err := s.operator.client.Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: p.GetToken(), Author: "ops", Reason: "scenario"})
				s.must(err)
			}
		},
		func() {
			advance(500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// takenOverHolder takes over the permit of a holder that is alive and does not stop.
func takenOverHolder(s *stage, _ int) {
	s.concurrently(
		func() { s.hold(s.a, singleSem, 6*time.Second) },
		func() {
			advance(time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			for _, p := range s.operator.holders(ctx, singleSem) {
				s.b.takeOver(singleSem, p.GetToken(), s.b.group)
			}
		},
		func() {
			advance(500 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// holdWhileWaiting holds a permit while another caller waits for it.
func holdWhileWaiting(s *stage, _ int) {
	s.concurrently(
		func() { s.hold(s.a, singleSem, 1500*time.Millisecond) },
		func() {
			advance(100 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// lateCancel retries an acquisition under new request ids, and cancels the earlier requests after the last one has been
// answered. The first request, r0, never arrived.
func lateCancel(s *stage, _ int) {
	w := s.reusedIdentity(singleSem)
	s.concurrently(
		func() {
			s.a.acquireDirect(w, "r1", 0, rngFor(s.plan.seed, "r1"))
			advance(time.Second)
			s.a.acquireDirect(w, "r2", 0, rngFor(s.plan.seed, "r2"))
			s.a.cancelRequest(w.acquireRequest("r1"))
			s.a.cancelRequest(w.acquireRequest("r0"))
		},
		func() {
			advance(300 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// releaseAfterReacquire restarts a process under the same identity. The new process acquires a permit before the
// release from the old process arrives.
func releaseAfterReacquire(s *stage, _ int) {
	w := s.reusedIdentity(singleSem)
	s.concurrently(
		func() {
			got, _ := s.a.acquireDirect(w, "r1", 0, rngFor(s.plan.seed, "r1"))
			s.a.recordBelief(w, got.token, s.now())
			s.a.acquireDirect(w, "r2", 0, rngFor(s.plan.seed, "r2"))
			s.a.releaseToken(w, got.token)
		},
		func() {
			advance(300 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// supersededUnnoticed runs two processes with the same identity. The first still relies on its permit after the second
// has superseded it and released the new permit.
func supersededUnnoticed(s *stage, _ int) {
	w := s.reusedIdentity(singleSem)
	s.concurrently(
		func() {
			s.a.acquireDirect(w, "r1", 0, rngFor(s.plan.seed, "r1"))
			got, _ := s.a.acquireDirect(w, "r2", 0, rngFor(s.plan.seed, "r2"))
			s.a.recordBelief(w, got.token, s.now())
			s.a.releaseToken(w, got.token)
		},
		func() {
			advance(300 * time.Millisecond)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
}

// slowClock cuts off a holder whose clock runs at 0.98 times the servers' rate. This is the largest allowed difference:
// each of the two clocks may be off by 1%.
func slowClock(s *stage, _ int) {
	slow := s.newProcess(machine(2), "prod", 1, 0.98)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	long := definition(singleSem)
	long.Duration = durationpb.New(10 * time.Second)
	s.replace(ctx, long)
	s.concurrently(
		func() { s.hold(slow, singleSem, 20*time.Second) },
		func() {
			advance(time.Second)
			defer s.cutOffExcept(slow.acquirer, nil)()
			advance(15 * time.Second)
		},
		func() {
			advance(8 * time.Second)
			s.waitAndHold(s.b, singleSem, time.Second)
		},
	)
	slow.end()
}

// reusedIdentity returns a jobSpec with an identity that several acquisitions on machine a share.
func (s *stage) reusedIdentity(semaphore string) jobSpec {
	return jobSpec{semaphore: semaphore, weight: 1, identity: history.Identity{Group: s.a.group, Acquirer: s.a.acquirer}}
}
