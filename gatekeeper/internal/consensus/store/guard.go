package store

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"
)

// WriteCall is the name that GuardConfig.Observe receives for a call that appends to the log.
const WriteCall = "store logs"

// GuardConfig configures a Guard. Functions may be nil.
type GuardConfig struct {
	// Timeout is how long a call may take before it counts as a fault.
	Timeout time.Duration
	// Slow is how long a call may take before a warning is logged.
	Slow time.Duration
	// Fault is called with the first fault, on the goroutine that detected it.
	Fault func(error)
	// Observe is called with the duration of each call.
	Observe func(op string, took time.Duration)
	Logger  *slog.Logger
}

// Guard watches calls to the stores. See the package documentation.
type Guard struct {
	cfg     GuardConfig
	failed  chan struct{} // closed at the first fault
	release chan struct{} // closed when the waiting goroutines may exit

	mu       sync.Mutex // guards err and released
	err      error
	released bool
}

// NewGuard returns a guard.
func NewGuard(cfg GuardConfig) *Guard {
	return &Guard{cfg: cfg, failed: make(chan struct{}), release: make(chan struct{})}
}

// Release lets the goroutines blocked in failed calls exit. It must be called when the member is closed.
func (g *Guard) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.released {
		g.released = true
		close(g.release)
	}
}

// Failed returns a channel that is closed at the first fault, before the fault is reported.
func (g *Guard) Failed() <-chan struct{} { return g.failed }

// Err returns the fault, or nil.
func (g *Guard) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Fail reports a fault. Only the first one counts.
func (g *Guard) Fail(err error) {
	g.mu.Lock()
	first := g.err == nil
	if first {
		g.err = err
		close(g.failed)
	}
	g.mu.Unlock()
	if first && g.cfg.Fault != nil {
		g.cfg.Fault(err)
	}
}

// Do runs the call f, named op. It returns only if f succeeded in time and no call has failed. Otherwise, the calling
// goroutine exits once Release has been called.
func (g *Guard) Do(op string, f func() error) {
	if g.Err() != nil {
		g.halt()
	}
	start := time.Now()
	watchdog := time.AfterFunc(g.cfg.Timeout, func() {
		g.Fail(fmt.Errorf("store: %s has not returned after %v; the disk is hung", op, g.cfg.Timeout))
	})
	err := withFaults(op, f)
	watchdog.Stop()
	took := time.Since(start)
	if g.cfg.Observe != nil {
		g.cfg.Observe(op, took)
	}
	if took > g.cfg.Slow && g.cfg.Logger != nil {
		g.cfg.Logger.Warn("a store call was slow; this can delay changes, because they wait for a majority of the members' disks",
			"call", op, "took", took)
	}
	if err != nil {
		g.Fail(fmt.Errorf("store: %s: %w", op, err))
	}
	if g.Err() != nil {
		g.halt()
	}
}

// Halt reports a fault that was detected elsewhere and, like Do, ends the calling goroutine.
func (g *Guard) Halt(err error) {
	g.Fail(err)
	g.halt()
}

// halt never returns. If it returned an error instead, Raft would continue, or panic, with a store it cannot trust.
func (g *Guard) halt() {
	<-g.release
	runtime.Goexit()
}
