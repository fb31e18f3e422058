package watch

import (
	"context"
	"sync"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// BenchmarkHub_ThousandWatchers measures how long it takes for a thousand watchers to read one event.
func BenchmarkHub_ThousandWatchers(b *testing.B) {
	h := New(0)
	ctx, cancel := context.WithCancel(b.Context())
	var running, read sync.WaitGroup
	for range 1000 {
		s := h.Subscribe(0)
		running.Go(func() {
			defer s.Close()
			for {
				if _, err := s.Next(ctx); err != nil {
					return
				}
				read.Done()
			}
		})
	}
	b.ReportAllocs()
	revision := uint64(0)
	for b.Loop() {
		revision++
		read.Add(1000)
		h.add(revision, []fsm.Event{{Revision: revision}}, false)
		read.Wait()
	}
	cancel()
	running.Wait()
}

// BenchmarkHub_Applied measures what an entry with 256 events costs the applying goroutine.
func BenchmarkHub_Applied(b *testing.B) {
	for _, c := range []struct {
		name     string
		watchers int
	}{{"no watchers", 0}, {"a thousand watchers", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			h := New(0)
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			for range c.watchers {
				s := h.Subscribe(0)
				running.Go(func() {
					defer s.Close()
					for {
						if _, err := s.Next(ctx); err != nil {
							return
						}
					}
				})
			}
			es := make([]fsm.Event, 256)
			b.ReportAllocs()
			revision := uint64(0)
			for b.Loop() {
				revision++
				h.add(revision, es, false)
			}
			cancel()
			running.Wait()
		})
	}
}
