package sim

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// causeAfterFailover kills the leader while a permit with the given duration is held. It returns the cancellation cause
// of the permit's context, or nil if the context was not cancelled. phase shifts the crash relative to the refreshes.
// If reset is set, connections break immediately, as when a process dies. Otherwise peers do not notice, as when a host
// dies.
func causeAfterFailover(t *testing.T, profile gatekeeper.Profile, duration time.Duration, phase int, reset bool) (cause error) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(&plan{seed: uint64(phase), members: 3, profile: profile, rates: []float64{1, 1, 1, 1}})
		for _, m := range w.members {
			w.must(m.start())
		}
		p := w.newProcess(machine(0), "prod", 1, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := p.client.Declare(ctx, &gatekeeperv1.Definition{Name: "brief", Duration: durationpb.New(duration)})
		w.must(err)
		permit, err := p.client.Semaphore("brief").TryAcquire(ctx)
		w.must(err)
		s := &stage{world: w}
		advance(duration + time.Duration(phase)*duration/36) // the phases cover a third of the duration, the time between two refreshes
		s.awaitLeader().crash(reset)
		advance(2 * duration)
		if permit.Context().Err() != nil {
			cause = context.Cause(permit.Context())
		}
		p.end()
		for _, m := range w.members {
			m.stop()
		}
	})
	return cause
}

func TestFailover_MinDuration_KeepsPermits(t *testing.T) {
	for profile, timeouts := range map[gatekeeper.Profile]consensus.Timeouts{
		gatekeeper.ProfileDefault: consensus.DefaultTimeouts(),
		gatekeeper.ProfileFast:    consensus.FastTimeouts(),
	} {
		for _, reset := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, connections reset: %v", profile, reset), func(t *testing.T) {
				t.Parallel()
				for phase := range 12 {
					if cause := causeAfterFailover(t, profile, timeouts.MinDuration(), phase, reset); cause != nil {
						t.Errorf("phase %d: the permit was lost: %v", phase, cause)
					}
				}
			})
		}
	}
}

// A server that cannot stop because its disk hangs may still write to its data directory. No other server may open that
// directory until it has stopped.
func TestCrash_WhileDiskHangs_KeepsDataDirLocked(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		w := newWorld(&plan{members: 3, profile: gatekeeper.ProfileDefault, rates: []float64{1, 1, 1, 1}})
		for _, m := range w.members {
			w.must(m.start())
		}
		s := &stage{world: w}
		leader, p := s.awaitLeader(), w.newProcess(machine(0), "prod", 1, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := p.client.Declare(ctx, &gatekeeperv1.Definition{Name: singleSem})
		w.must(err)
		resumeDisk := leader.disk.stall()
		p.acquireDirect(jobSpec{semaphore: singleSem, identity: history.Identity{Group: "prod", Acquirer: "a"}}, "r", 0, rngFor(0, "a")) // makes the leader write
		leader.kill(true)
		if err := leader.open(); !errors.Is(err, gatekeeper.ErrDataDirLocked) {
			t.Errorf("open() while the disk hangs = %v, want ErrDataDirLocked", err)
		}
		resumeDisk()
		w.must(leader.start())
		p.end()
		for _, m := range w.members {
			m.stop()
		}
	})
}
