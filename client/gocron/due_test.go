package gocron

import (
	"context"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
)

// jumpingClock is a clock that jumps to the due time as soon as a timer is set. At that point, the scheduler has not
// yet processed the lock of the run that set the timer. When it does, it drops all due times that have passed.
type jumpingClock struct {
	*clockwork.FakeClock
	jumps chan struct{} // one token per jump
}

func (c jumpingClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := c.FakeClock.AfterFunc(d, f)
	select {
	case <-c.jumps:
		c.Advance(d + time.Millisecond) // at exactly the due time, gocron would schedule the same run again
	default:
	}
	return t
}

// probe is a gocron.Locker that only reads due times.
type probe struct {
	locker   *Locker
	dueTimes chan time.Time
	errs     chan error
}

type noopLock struct{}

func (noopLock) Unlock(context.Context) error { return nil }

func (p probe) Lock(ctx context.Context, name string) (gocron.Lock, error) {
	due, err := p.locker.due(ctx, name)
	if err != nil {
		p.errs <- err
		return nil, err
	}
	p.dueTimes <- due
	return noopLock{}, nil
}

// gocron may drop a run's due time before the run calls Lock. The Locker must still find it.
func TestDue_DroppedByTheScheduler_IsStillFound(t *testing.T) {
	const runs = 200
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, d := range map[string]gocron.JobDefinition{
		"duration": gocron.DurationJob(time.Second),
		"cron":     gocron.CronJob("* * * * * *", true),
		"every":    gocron.CronJob("@every 1s", false),
	} {
		t.Run(name, func(t *testing.T) {
			clock := jumpingClock{clockwork.NewFakeClockAt(noon), make(chan struct{}, runs)}
			for range runs {
				clock.jumps <- struct{}{}
			}
			p := probe{NewLocker(nil, WithNow(clock.Now)), make(chan time.Time, 2*runs), make(chan error, 2*runs)}
			s, err := gocron.NewScheduler(gocron.WithClock(clock), gocron.WithLocation(time.UTC), gocron.WithDistributedLocker(p))
			if err != nil {
				t.Fatal(err)
			}
			p.locker.Follow(s)
			if _, err := s.NewJob(d, gocron.NewTask(func() {}), gocron.WithName("tick")); err != nil {
				t.Fatal(err)
			}
			s.Start()
			defer func() { _ = s.Shutdown() }()
			for i := range runs {
				select {
				case due := <-p.dueTimes:
					if want := noon.Add(time.Duration(i+1) * time.Second); !due.Equal(want) {
						t.Fatalf("run %d was due at %s, want %s", i+1, due, want)
					}
				case err := <-p.errs:
					t.Fatalf("run %d: %v", i+1, err)
				case <-time.After(20 * time.Second):
					t.Fatal("timed out waiting for a run")
				}
			}
		})
	}
}
