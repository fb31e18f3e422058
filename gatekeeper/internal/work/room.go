package work

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Keeper is what a room asks; a *keeper.Keeper is one.
type Keeper interface {
	Acquire(ctx context.Context, call *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error)
	Release(ctx context.Context, cmd fsm.Release, owner semaphore.Owner) (fsm.ReleaseResult, error)
}

// Progress is how far a task has come, as its worker reports it.
type Progress struct {
	Fraction float64
	Text     string
}

// Held is a task that a worker has.
type Held struct {
	Job      string
	Index    uint32
	Token    uint64
	Progress *Progress // nil: none was reported
}

// Offer is who works, and for what.
type Offer struct {
	Semaphore string
	Identity  semaphore.Identity
	Weight    uint32
	Metadata  map[string]string
	// Owner is whose tasks the worker's are.
	Owner semaphore.Owner
}

// Room knows the workers of this server. It is safe for concurrent use.
type Room struct {
	keeper Keeper

	mu      sync.Mutex // guards workers and all that changes in them
	workers map[*Worker]struct{}
	held    map[uint64]*Held // by token
}

// NewRoom returns a room without workers.
func NewRoom(k Keeper) *Room {
	return &Room{keeper: k, workers: make(map[*Worker]struct{}), held: make(map[uint64]*Held)}
}

// Progress returns what was reported of the task of a permit, or nil.
func (r *Room) Progress(token uint64) *Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[token]; h != nil {
		return h.Progress
	}
	return nil
}

// Info describes a worker.
type Info struct {
	Offer    Offer
	Free     int // how many more tasks it would take
	Draining bool
	Held     []Held
	Denied   semaphore.Reason
}

// Workers are those of a semaphore, or of all for the empty name, in the order in which they came.
func (r *Room) Workers(sem string) []Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Worker
	for w := range r.workers {
		if sem == "" || w.offer.Semaphore == sem {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, func(a, b *Worker) int { return a.opened.Compare(b.opened) })
	out := make([]Info, len(all))
	for i, w := range all {
		out[i] = Info{Offer: w.offer, Free: w.free, Draining: w.draining, Denied: w.denied}
		for _, h := range w.tasks {
			out[i].Held = append(out[i].Held, *h)
		}
		slices.SortFunc(out[i].Held, func(a, b Held) int { return cmp.Compare(a.Token, b.Token) })
	}
	return out
}
