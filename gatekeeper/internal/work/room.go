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

// Keeper is the part of the keeper that a Room uses; *keeper.Keeper implements it.
type Keeper interface {
	Acquire(ctx context.Context, call *keeper.AcquireCall, progress func(keeper.Place) error) (keeper.Answer, error)
	Release(ctx context.Context, cmd fsm.Release, owner semaphore.Owner) (fsm.ReleaseResult, error)
}

// Progress is the progress of a task, as reported by its worker.
type Progress struct {
	Fraction float64
	Text     string
}

// Held is a task that a worker holds.
type Held struct {
	Job      string
	Index    uint32
	Token    uint64
	Progress *Progress // nil if none was reported
}

// Offer identifies a worker and the semaphore it works for.
type Offer struct {
	Semaphore string
	Identity  semaphore.Identity
	Weight    uint32
	Metadata  map[string]string
	// Owner owns the permits of the worker's tasks.
	Owner semaphore.Owner
}

// Room tracks the workers connected to this server. It is safe for concurrent use.
type Room struct {
	keeper Keeper

	mu      sync.Mutex // guards the fields below, and the mutable fields of the workers
	workers map[*Worker]struct{}
	held    map[uint64]*Held // by token
}

// NewRoom returns a room without workers.
func NewRoom(k Keeper) *Room {
	return &Room{keeper: k, workers: make(map[*Worker]struct{}), held: make(map[uint64]*Held)}
}

// Progress returns the last reported progress of a permit's task, or nil.
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
	Free     int // how many more tasks it can take
	Draining bool
	Held     []Held
	Denied   semaphore.Reason
}

// Workers returns the workers of a semaphore, or all workers if sem is empty, in the order in which they connected.
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
