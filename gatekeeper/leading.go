package gatekeeper

import (
	"context"
	"log/slog"
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// leading passes this server's leaderships on to the keeper, and does what a leader does once: it declares the definitions
// that it was started with. Each server may have been started with others.
type leading struct {
	keeper      *keeper.Keeper
	state       func() *fsm.State
	log         *slog.Logger
	definitions []*semaphore.Definition
	declaring   sync.WaitGroup
}

var _ consensus.Leading = (*leading)(nil)

func (l *leading) Promote(term uint64, done <-chan struct{}) {
	l.keeper.Promote(term, done)
	if len(l.definitions) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.declaring.Go(func() {
		defer cancel()
		l.declare(ctx)
	})
	l.declaring.Go(func() {
		defer cancel()
		select {
		case <-done:
		case <-ctx.Done():
		}
	})
}

func (l *leading) Demote(term uint64) {
	l.keeper.Demote(term)
	l.declaring.Wait() // it ends with the leadership
}
