package gatekeeper

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// clockCheckInterval is how often a leader compares the members' clocks.
	clockCheckInterval = 30 * time.Second
	// minTolerance is the lower bound on the tolerance. A clock reading is assumed to be half a round trip old, and
	// a busy member can throw that estimate off by up to this much.
	minTolerance = time.Second
	// handoverTimeout bounds one attempt to transfer leadership.
	handoverTimeout = 10 * time.Second
)

// clocks compares the members' wall clocks while this server leads. Only the leader's clock decides whether a firing is
// due too far ahead (FIRING_TOO_FAR_AHEAD). A leader whose clock is off therefore transfers leadership to a member
// whose clock is correct.
type clocks struct {
	id       string
	interval time.Duration
	node     interface {
		Clocks() (clocks []consensus.MemberClock, members int, err error)
		Transfer(ctx context.Context, id string) error
	}
	state func() *fsm.State
	log   *slog.Logger

	mu   sync.Mutex // guards the fields below
	term uint64     // the newest term in which this server led; results from earlier terms are dropped
	off  []consensus.MemberClock
}

// list returns the members whose clocks are off, each with its offset from the median. It returns none while another
// member leads.
func (c *clocks) list() []consensus.MemberClock {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.off)
}

// watch compares the clocks until ctx ends, which happens when this server stops leading in that term.
func (c *clocks) watch(ctx context.Context, term uint64) {
	c.mu.Lock()
	c.term = max(c.term, term)
	c.mu.Unlock()
	tick := time.NewTicker(c.interval)
	defer tick.Stop()
	defer c.recordOff(term, nil, 0)
	for {
		c.compare(ctx, term)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (c *clocks) compare(ctx context.Context, term uint64) {
	all, members, err := c.node.Clocks()
	if err != nil || ctx.Err() != nil {
		return
	}
	tolerance := c.tolerance()
	off := outliers(all, members, tolerance)
	c.recordOff(term, off, tolerance)
	if !includes(off, c.id) {
		return
	}
	successor := slices.IndexFunc(all, func(m consensus.MemberClock) bool { return m.Voter && m.ID != c.id && !includes(off, m.ID) })
	if successor < 0 {
		return // already logged
	}
	ctx, cancel := context.WithTimeout(ctx, handoverTimeout)
	defer cancel()
	if err := c.node.Transfer(ctx, all[successor].ID); err != nil {
		c.log.Warn("could not transfer leadership to a member whose clock is correct, retrying", slog.String("to", all[successor].ID), slog.Any("error", err))
		return
	}
	c.log.Warn("transferred leadership because this server's clock is off", slog.String("to", all[successor].ID))
}

// tolerance returns half of the smallest limit that a definition sets on how far ahead a firing may be due, but at most
// half of the default limit.
func (c *clocks) tolerance() time.Duration {
	bound := semaphore.DefaultFiringMaxAhead
	for d := range c.state().Definitions("") {
		if limit, ok := d.Definition.MaxAhead(); ok {
			bound = min(bound, limit)
		}
	}
	return max(bound/2, minTolerance)
}

// outliers returns the clocks that differ from the median by more than tolerance, and by how much. It returns none if a
// majority of the clocks could not be read. If there are two clocks and they differ, it returns both, since either
// could be wrong.
func outliers(all []consensus.MemberClock, members int, tolerance time.Duration) (off []consensus.MemberClock) {
	n := len(all)
	if 2*n <= members {
		return nil
	}
	var ahead []time.Duration
	for _, m := range all {
		ahead = append(ahead, m.Ahead)
	}
	slices.Sort(ahead)
	median := ahead[(n-1)/2] + (ahead[n/2]-ahead[(n-1)/2])/2
	for _, m := range all {
		if m.Ahead -= median; m.Ahead.Abs() > tolerance {
			off = append(off, m)
		}
	}
	return off
}

func includes(clocks []consensus.MemberClock, id string) bool {
	return slices.ContainsFunc(clocks, func(m consensus.MemberClock) bool { return m.ID == id })
}

// recordOff records which clocks are off, and logs any changes.
func (c *clocks) recordOff(term uint64, off []consensus.MemberClock, tolerance time.Duration) {
	c.mu.Lock()
	if term != c.term {
		c.mu.Unlock()
		return
	}
	old := c.off
	c.off = off
	c.mu.Unlock()
	for _, m := range off {
		i := slices.IndexFunc(old, func(o consensus.MemberClock) bool { return o.ID == m.ID })
		if i < 0 || (old[i].Ahead-m.Ahead).Abs() > tolerance {
			c.log.Warn("a member's clock differs from the others: correct it and make sure that it is synchronized",
				slog.String("member", m.ID), slog.Duration("ahead", m.Ahead.Round(time.Second)), slog.Duration("tolerance", tolerance))
		}
	}
	for _, m := range old {
		if tolerance > 0 && !includes(off, m.ID) {
			c.log.Info("a member's clock is within tolerance again", slog.String("member", m.ID))
		}
	}
}
