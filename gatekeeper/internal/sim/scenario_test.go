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

// The scenarios recreate the dangers that the protocol rules out. In each of them, a mutant in .ci/mutants violates a
// guarantee.

func TestDeposedLeader_HearsLate_StopsAnswering(t *testing.T)     { scenario(t, 12, deposed) }
func TestRelease_AfterThePermitsEnd_FreesNothing(t *testing.T)    { scenario(t, 1, lateRelease) }
func TestLeader_DiesAsItAnswers_GrantStands(t *testing.T)         { scenario(t, 12, diesAnswering) }
func TestExpiry_AppendedInALaterTerm_IsRefused(t *testing.T)      { scenario(t, 3, lateExpiry) }
func TestAnswer_TakesLong_CountsFromTheCall(t *testing.T)         { scenario(t, 1, lateAnswer) }
func TestDuration_ShortenedUnheard_StaysAsPromised(t *testing.T)  { scenario(t, 1, shortenedUnheard) }
func TestRevokedHolder_DoesNotStop_KeepsItsSlot(t *testing.T)     { scenario(t, 1, revokedHolder) }
func TestHolderTakenOver_DoesNotStop_KeepsItsSlot(t *testing.T)   { scenario(t, 1, takenOverHolder) }
func TestAnsweredCall_ItsContextEnds_PermitStays(t *testing.T)    { scenario(t, 1, answeredCall) }
func TestCancel_OfAnEarlierRequest_EndsNoOther(t *testing.T)      { scenario(t, 1, lateCancel) }
func TestRelease_OfASupersededToken_FreesNothing(t *testing.T)    { scenario(t, 1, overtakenRelease) }
func TestSupersededHolder_NeverHears_SlotStaysTaken(t *testing.T) { scenario(t, 1, unheardSuccessor) }
func TestLeader_LosesItsWrite_NothingWasAnswered(t *testing.T)    { scenario(t, 6, losesItsWrite) }
func TestSlowClock_CountsNoLongerThanTheServer(t *testing.T)      { scenario(t, 1, slowClock) }

// scenario plays each phase, which shifts one event relative to the others, and fails if a guarantee is violated. The
// timing of client requests is partly random, so -repeat plays all phases several times, until a guarantee is violated.
func scenario(t *testing.T, phases int, act func(s *stage, phase int)) {
	t.Parallel()
	for round := range option[int](t, "repeat") {
		for phase := range phases {
			for _, broken := range play(t, phase, act) {
				t.Errorf("round %d, phase and seed %d: %s", round+1, phase, broken)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// stage is the setting of a scenario: a world in which nothing happens except what the scenario does.
type stage struct {
	*world
	a, b *process // two machines
}

// play plays one phase and returns the guarantees that were violated.
func play(t *testing.T, phase int, act func(s *stage, phase int)) []string {
	t.Helper()
	var w *world
	inBubble(t, func(t *testing.T) {
		w = newWorld(&plan{seed: uint64(phase), members: 3, profile: gatekeeper.ProfileDefault, rates: []float64{1, 1, 1, 1}})
		for _, m := range w.members {
			w.must(m.start())
		}
		w.operator = &operator{w.process("ops", "prod", 1, 1), luckOf(uint64(phase), "operator")}
		w.operator.create()
		s := &stage{w, w.process(machine(0), "prod", 1, 1), w.process(machine(1), "prod", 1, 1)}
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
	broken, _ := w.check()
	return broken
}

// together runs the parts concurrently, and returns when all have finished.
func (s *stage) together(parts ...func()) {
	done := make(chan struct{})
	for _, part := range parts {
		go func() { part(); done <- struct{}{} }()
	}
	for range parts {
		<-done
	}
}

// lead returns the leader, waiting until there is one.
func (s *stage) lead() *member {
	for range 100 {
		if id := s.serverLog.leader(); id != "" {
			return s.members[slices.IndexFunc(s.members, func(m *member) bool { return m.id == id })]
		}
		pass(100 * time.Millisecond)
	}
	s.wrong("there is no leader")
	return s.members[0]
}

// only cuts a machine off from all members except the given one, which may be nil.
func (s *stage) only(machine string, m *member) (heal func()) {
	var ways []link
	for _, other := range s.members {
		if other != m {
			ways = append(ways, link{machine, other.id}, link{other.id, machine})
		}
	}
	return s.net.cut(ways)
}

func (s *stage) transfer() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	_, _ = s.operator.client.Cluster().TransferLeadership(ctx, &gatekeeperv1.TransferLeadershipRequest{}) // the response may be lost on purpose
}

// try waits in the queue for a permit, and then holds it.
func (s *stage) try(p *process, semaphore string, hold time.Duration) {
	p.run(wish{semaphore: semaphore, weight: 1, wait: 8 * time.Second, hold: hold, deaf: true}, luckOf(s.plan.seed, p.acquirer))
}

func (s *stage) hold(p *process, semaphore string, hold time.Duration) {
	p.run(wish{semaphore: semaphore, weight: 1, hold: hold, deaf: true}, luckOf(s.plan.seed, p.acquirer))
}

// deposed: all messages from the others reach the leader late. A transfer deposes the leader, which also learns about
// that late. In the meantime, a holder that can reach only this leader refreshes its permit.
func deposed(s *stage, phase int) {
	leader := s.lead()
	defer s.only(s.a.acquirer, leader)()
	s.together(
		func() {
			s.a.run(wish{semaphore: single, weight: 1, hold: 2 * time.Second, refresh: true, deaf: true}, luckOf(s.plan.seed, s.a.acquirer))
		},
		func() {
			pass(time.Second)
			defer s.net.worsen(s.ways(leader, false, true, false), 230*time.Millisecond, 0)()
			// The transfer itself takes half a second, because the leader receives messages late.
			pass(250*time.Millisecond + time.Duration(phase)*25*time.Millisecond)
			s.together(s.transfer, func() {
				pass(780 * time.Millisecond)
				defer s.only(s.a.acquirer, nil)()
				pass(6 * time.Second)
			})
		},
		func() {
			pass(2500 * time.Millisecond)
			s.try(s.b, single, 2*time.Second)
		},
	)
}

// lateRelease: a holder is cut off until its permit has expired and another holder has the slot. Then its release
// arrives.
func lateRelease(s *stage, _ int) {
	s.together(
		func() { s.hold(s.a, lockstep, 1500*time.Millisecond) },
		func() {
			pass(500 * time.Millisecond)
			heal := s.only(s.a.acquirer, nil)
			pass(1200 * time.Millisecond)
			heal()
		},
		func() {
			pass(700 * time.Millisecond)
			s.try(s.b, lockstep, 4*time.Second)
		},
	)
}

// diesAnswering: the leader crashes after it has responded to an acquire with a grant, but before the others learn that
// the entry is committed. The next leader has the entry in its log but not in its state, and its disk stalls when it is
// elected.
func diesAnswering(s *stage, phase int) {
	leader := s.lead()
	long := definition(single)
	long.Duration = durationpb.New(6 * time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.replace(ctx, long)
	s.serverLog.won(func(server string) {
		for _, m := range s.members {
			if m.id == server && m != leader {
				goOn := m.disk.stall()
				time.AfterFunc(700*time.Millisecond, goOn)
			}
		}
	})
	defer s.serverLog.won(nil)
	s.together(
		func() { s.hold(s.a, single, 8*time.Second) },
		func() {
			pass(10*time.Millisecond + time.Duration(phase)*3*time.Millisecond)
			leader.crash(true)
			pass(8 * time.Second)
		},
		func() {
			pass(2500 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// losesItsWrite: one follower has stored the entry of a grant, and the leader has not, because its disk is stalled. The
// leader crashes and loses the entry, and then forms a majority with the other follower.
func losesItsWrite(s *stage, _ int) {
	leader := s.lead()
	var rest []*member
	for _, m := range s.members {
		if m != leader {
			rest = append(rest, m)
		}
	}
	long := definition(single)
	long.Duration = durationpb.New(6 * time.Second)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.replace(ctx, long)
	without := s.net.cut([]link{{leader.id, rest[1].id}, {rest[1].id, leader.id}})
	goOn := leader.disk.stall()
	s.together(
		func() { s.hold(s.a, single, 8*time.Second) },
		func() {
			pass(time.Second)
			defer s.only(s.a.acquirer, nil)()
			defer s.net.cut(s.ways(rest[0], true, true, true))()
			leader.crash(true)
			without()
			goOn()
			s.must(leader.start())
			pass(8 * time.Second)
		},
		func() {
			pass(1500 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// lateExpiry: a leader is deposed by a transfer that it does not notice. By its clock, a permit has expired, although
// the next leader has refreshed the permit. The old leader proposes the expiry, and the entry is appended when it leads
// again.
func lateExpiry(s *stage, phase int) {
	leader := s.lead()
	s.together(
		func() { s.hold(s.a, lockstep, 9*time.Second) },
		func() {
			pass(time.Second + time.Duration(phase)*40*time.Millisecond)
			hear := s.net.cut(s.ways(leader, false, true, false))
			away := s.net.cut([]link{{s.a.acquirer, leader.id}, {leader.id, s.a.acquirer}})
			s.transfer()
			pass(2 * time.Second)
			hear()
			pass(2 * time.Second)
			for range 10 { // until it leads again
				if s.lead() == leader {
					break
				}
				s.transfer()
				pass(300 * time.Millisecond)
			}
			away()
		},
		func() {
			pass(2 * time.Second)
			s.try(s.b, lockstep, time.Second)
		},
	)
}

// lateAnswer: the response to an acquire takes almost as long as the permit lasts, and then the holder is cut off.
func lateAnswer(s *stage, _ int) {
	var back []link
	for _, m := range s.members {
		back = append(back, link{m.id, s.a.acquirer})
	}
	// The connections are established before the network becomes slow.
	s.hold(s.a, lockstep, time.Millisecond)
	fast := s.net.worsen(back, 800*time.Millisecond, 0)
	s.together(
		func() { s.hold(s.a, single, 8*time.Second) },
		func() {
			pass(810 * time.Millisecond)
			defer s.only(s.a.acquirer, nil)()
			fast()
			pass(8 * time.Second)
		},
		func() {
			pass(500 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// shortenedUnheard: a definition's duration is shortened. The holder's next frame arrives, but the response to it does
// not. Then the leader changes.
func shortenedUnheard(s *stage, _ int) {
	leader := s.lead()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	long := definition(single)
	long.Duration = durationpb.New(6 * time.Second)
	s.replace(ctx, long)
	var back []link
	for _, m := range s.members {
		back = append(back, link{m.id, s.a.acquirer})
	}
	s.together(
		func() { s.hold(s.a, single, 20*time.Second) },
		func() {
			pass(1500 * time.Millisecond) // the permit was refreshed once, and the holder relies on six seconds
			short := definition(single)
			short.Duration = durationpb.New(300 * time.Millisecond)
			s.replace(ctx, short)
			defer s.net.cut(back)()
			pass(2600 * time.Millisecond) // a frame has arrived
			leader.crash(true)
			pass(15 * time.Second)
		},
		func() {
			pass(4500 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

func (s *stage) replace(ctx context.Context, d *gatekeeperv1.Definition) {
	got, err := s.operator.client.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: d.GetName()})
	s.must(err)
	s.operator.edit(d.GetName(), got.GetRecord().GetVersion(), d, 0, 0)
}

// revokedHolder: a holder must stop but does not.
func revokedHolder(s *stage, _ int) {
	s.together(
		func() { s.hold(s.a, single, 6*time.Second) },
		func() {
			pass(time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			for _, p := range s.operator.holders(ctx, single) {
				_, err := s.operator.client.Permits().Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: p.GetToken(), Author: "ops", Reason: "scenario"})
				s.must(err)
			}
		},
		func() {
			pass(500 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// takenOverHolder: a caller judges a holder dead, but the holder is alive and does not stop.
func takenOverHolder(s *stage, _ int) {
	s.together(
		func() { s.hold(s.a, single, 6*time.Second) },
		func() {
			pass(time.Second)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			for _, p := range s.operator.holders(ctx, single) {
				s.b.takeOver(single, p.GetToken(), s.b.group)
			}
		},
		func() {
			pass(500 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// answeredCall: a permit is held for some time while another caller waits for it.
func answeredCall(s *stage, _ int) {
	s.together(
		func() { s.hold(s.a, single, 1500*time.Millisecond) },
		func() {
			pass(100 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// lateCancel: an application retries under new request ids, and cancels the earlier requests once the last one has been
// answered. The first request never arrived.
func lateCancel(s *stage, _ int) {
	w := s.again(single)
	s.together(
		func() {
			s.a.ask(w, "r1", 0, luckOf(s.plan.seed, "r1"))
			pass(time.Second)
			s.a.ask(w, "r2", 0, luckOf(s.plan.seed, "r2"))
			s.a.takeBack(w.asked("r1"))
			s.a.takeBack(w.asked("r0"))
		},
		func() {
			pass(300 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// overtakenRelease: a process is restarted under the same identity, and acquires while the release from its previous
// run is in flight.
func overtakenRelease(s *stage, _ int) {
	w := s.again(single)
	s.together(
		func() {
			got, _ := s.a.ask(w, "r1", 0, luckOf(s.plan.seed, "r1"))
			s.a.believe(w, got.token, s.now())
			s.a.ask(w, "r2", 0, luckOf(s.plan.seed, "r2"))
			s.a.giveBack(w, got.token)
		},
		func() {
			pass(300 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// unheardSuccessor: two processes share an identity. The first still relies on its permit after the second has
// superseded it and released the new one.
func unheardSuccessor(s *stage, _ int) {
	w := s.again(single)
	s.together(
		func() {
			s.a.ask(w, "r1", 0, luckOf(s.plan.seed, "r1"))
			got, _ := s.a.ask(w, "r2", 0, luckOf(s.plan.seed, "r2"))
			s.a.believe(w, got.token, s.now())
			s.a.giveBack(w, got.token)
		},
		func() {
			pass(300 * time.Millisecond)
			s.try(s.b, single, time.Second)
		},
	)
}

// slowClock: a holder is cut off, and its clock runs at 0.98 times the servers' rate. That is the largest difference
// allowed, with each of the two clocks off by 1%.
func slowClock(s *stage, _ int) {
	slow := s.process(machine(2), "prod", 1, 0.98)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	long := definition(single)
	long.Duration = durationpb.New(10 * time.Second)
	s.replace(ctx, long)
	s.together(
		func() { s.hold(slow, single, 20*time.Second) },
		func() {
			pass(time.Second)
			defer s.only(slow.acquirer, nil)()
			pass(15 * time.Second)
		},
		func() {
			pass(8 * time.Second)
			s.try(s.b, single, time.Second)
		},
	)
	slow.end()
}

// again returns an acquisition under an identity that machine a uses more than once.
func (s *stage) again(semaphore string) wish {
	return wish{semaphore: semaphore, weight: 1, identity: history.Identity{Group: s.a.group, Acquirer: s.a.acquirer}}
}
