package run

import (
	"context"
	"os"
	"sync"
	"syscall"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// interruption ends a context at the first signal that would end gkctl, while no command runs that it could go to.
type interruption struct {
	cancel context.CancelFunc
	stop   chan struct{}
	once   sync.Once
	work   sync.WaitGroup

	mu     sync.Mutex // guards signal
	signal os.Signal
}

func interruptible(ctx context.Context, signals <-chan os.Signal) (context.Context, *interruption) {
	i := &interruption{stop: make(chan struct{})}
	ctx, i.cancel = context.WithCancel(ctx)
	i.work.Go(func() {
		for {
			select {
			case s := <-signals:
				if ends(s) {
					i.mu.Lock()
					i.signal = s
					i.mu.Unlock()
					i.cancel()
					return
				}
			case <-i.stop:
				return
			}
		}
	})
	return ctx, i
}

// by is the signal that came; nil when none did.
func (i *interruption) by() os.Signal {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.signal
}

// over leaves the signals that come from now on to somebody else, and returns the one that came before. The context goes on.
func (i *interruption) over() os.Signal {
	i.once.Do(func() { close(i.stop) })
	i.work.Wait()
	return i.by()
}

func (i *interruption) end() {
	i.over()
	i.cancel()
}

// ends says whether a signal ends a process that does nothing about it.
func ends(s os.Signal) bool {
	switch s {
	case syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM:
		return true
	}
	return false
}

// signalled is the exit code of a process that a signal ended.
func signalled(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return ui.ExitInterrupted
}
