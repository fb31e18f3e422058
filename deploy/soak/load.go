package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// sizes holds the amount of each kind of work.
type sizes struct {
	Workers  int `json:"workers"`
	Denied   int `json:"denied"`
	Queued   int `json:"queued"`
	Kept     int `json:"kept"`
	Watchers int `json:"watchers"`
}

func (s sizes) String() string {
	return fmt.Sprintf("%d callers that acquire and release, %d that are denied, %d in a queue, %d permits kept alive, %d watchers, an operator, and firings",
		s.Workers, s.Denied, s.Queued, s.Kept, s.Watchers)
}

// counts holds the number of completed operations of each kind.
type counts struct {
	Granted int64 `json:"granted"`
	Denied  int64 `json:"denied"`
	Firings int64 `json:"firings"`
	Changes int64 `json:"changes"`
	Watched int64 `json:"watched"`
}

func (c counts) calls() int64 { return 2*c.Granted + c.Denied }

const (
	keptDuration = 30 * time.Second
	// changeInterval is the interval between the operator's changes and between firings.
	changeInterval = 500 * time.Millisecond
	// semaphoreCount is the number of semaphores that the workers share.
	semaphoreCount = 200
)

// load runs all the work on the servers through one client.
type load struct {
	client *client.Client
	sizes  sizes
	kept   []*client.Permit
	all    sync.WaitGroup
	ending atomic.Bool

	granted, denied, firings, changes, watched atomic.Int64

	mu     sync.Mutex // guards failed
	failed map[string]int
}

func newLoad(c *client.Client, s sizes) *load {
	return &load{client: c, sizes: s, failed: map[string]int{}}
}

// prepare creates the definitions and acquires the permits to keep.
func (l *load) prepare(ctx context.Context) error {
	definitions := []*gatekeeperv1.Definition{
		{Name: "hot", Permits: new(uint32(1)), Duration: durationpb.New(keptDuration)},
		{Name: "queue", Permits: new(uint32(1)), Duration: durationpb.New(keptDuration)},
		{Name: "fires", Permits: new(uint32(1)), Duration: durationpb.New(keptDuration)},
		{Name: "edited", Permits: new(uint32(1)), Duration: durationpb.New(keptDuration)},
		{Name: "kept", Permits: new(uint32(max(l.sizes.Kept, 1))), Duration: durationpb.New(keptDuration)}, //nolint:gosec // a small number from a flag
	}
	for i := range semaphoreCount {
		definitions = append(definitions, &gatekeeperv1.Definition{Name: workName(i), Permits: new(uint32(4)), Duration: durationpb.New(keptDuration)})
	}
	if _, err := l.client.Declare(ctx, definitions...); err != nil {
		return err
	}
	for range l.sizes.Kept {
		if err := l.keep(ctx, "kept"); err != nil {
			return err
		}
	}
	return l.keep(ctx, "hot")
}

func workName(i int) string { return fmt.Sprintf("work-%d", i%semaphoreCount) }

func (l *load) keep(ctx context.Context, semaphore string) error {
	p, err := l.client.Semaphore(semaphore).TryAcquire(ctx)
	if err != nil {
		return err
	}
	l.kept = append(l.kept, p)
	l.all.Go(func() {
		<-p.Context().Done()
		if !l.ending.Load() {
			l.recordFailure("a kept permit", context.Cause(p.Context()))
		}
	})
	return nil
}

// start starts the load, which runs until ctx ends.
func (l *load) start(ctx context.Context) {
	for i := range l.sizes.Workers {
		l.loop(ctx, "acquire and release", func(n int) error {
			p, err := l.client.Semaphore(workName(i + n)).TryAcquire(ctx)
			return l.finish(ctx, p, err)
		})
	}
	for range l.sizes.Denied {
		l.loop(ctx, "a denial", func(int) error {
			p, err := l.client.Semaphore("hot").TryAcquire(ctx)
			if err == nil {
				return errors.Join(errors.New("a held permit was granted again"), p.Release(ctx))
			}
			return l.finish(ctx, nil, err)
		})
	}
	for range l.sizes.Queued {
		l.loop(ctx, "the queue", func(int) error {
			p, err := l.client.Semaphore("queue").Acquire(ctx)
			return l.finish(ctx, p, err)
		})
	}
	l.periodically(ctx, "a firing", func(now time.Time) error {
		p, err := l.client.Semaphore("fires", client.WithFiring("fires", now.Truncate(changeInterval))).TryAcquire(ctx)
		if err == nil {
			l.firings.Add(1)
		}
		return l.finish(ctx, p, err)
	})
	l.periodically(ctx, "a change", func(now time.Time) error { return l.change(ctx, now) })
	for range l.sizes.Watchers {
		l.all.Go(func() {
			for _, err := range l.client.Watch(ctx, &gatekeeperv1.WatchRequest{}) {
				if err != nil && ctx.Err() == nil {
					l.recordFailure("a watch", err)
				}
				l.watched.Add(1)
			}
		})
	}
}

// change alternately pauses and resumes a semaphore.
func (l *load) change(ctx context.Context, now time.Time) error {
	const author = "soak"
	selector := &gatekeeperv1.Selector{Names: []string{"edited"}}
	var err error
	if now.UnixNano()/int64(changeInterval)%2 == 0 {
		_, err = l.client.Operator().Pause(ctx, &gatekeeperv1.PauseRequest{Selector: selector, Author: author, RequestId: client.NewRequestID()})
	} else {
		_, err = l.client.Operator().Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: selector, Author: author, RequestId: client.NewRequestID()})
	}
	if err == nil {
		l.changes.Add(1)
	}
	return err
}

// finish counts a response and releases the permit if one was granted.
func (l *load) finish(ctx context.Context, p *client.Permit, err error) error {
	if _, denied := errors.AsType[*client.DeniedError](err); denied {
		l.denied.Add(1)
		return nil
	}
	if err != nil {
		return err
	}
	l.granted.Add(1)
	return p.Release(ctx)
}

// loop calls f repeatedly until ctx ends.
func (l *load) loop(ctx context.Context, what string, f func(n int) error) {
	l.all.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			if err := f(n); err != nil && ctx.Err() == nil {
				l.recordFailure(what, err)
			}
		}
	})
}

// periodically calls f at regular intervals until ctx ends.
func (l *load) periodically(ctx context.Context, what string, f func(now time.Time) error) {
	l.all.Go(func() {
		tick := time.NewTicker(changeInterval)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				if err := f(now); err != nil && ctx.Err() == nil {
					l.recordFailure(what, err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

func (l *load) recordFailure(what string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed[fmt.Sprintf("%s: %v", what, err)]++
}

// failures returns the failures with their counts.
func (l *load) failures() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for text, n := range l.failed {
		all = append(all, fmt.Sprintf("%d times: %s", n, text))
	}
	slices.Sort(all)
	return all
}

func (l *load) done() counts {
	return counts{
		Granted: l.granted.Load(), Denied: l.denied.Load(), Firings: l.firings.Load(), Changes: l.changes.Load(), Watched: l.watched.Load(),
	}
}

// end releases the kept permits and waits for all goroutines. The load's context must already have ended.
func (l *load) end() {
	for _, p := range l.kept {
		if !p.Held() {
			l.recordFailure("a kept permit", errors.New("no longer held at the end of the run"))
		}
	}
	l.ending.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, p := range l.kept {
		if err := p.Release(ctx); err != nil {
			l.recordFailure("a release at the end", err)
		}
	}
	l.all.Wait()
}
