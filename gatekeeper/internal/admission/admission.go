package admission

import (
	"context"
	"errors"
	"sync"
)

// Identity is a group and an acquirer. The zero Identity represents an unknown caller, which is not limited.
type Identity struct{ Group, Acquirer string }

// Control counts a server's calls. Its methods are safe for concurrent use.
type Control struct {
	limits       Limits
	waitingSlots chan struct{} // holds one element per Waiting call in progress; callers block on it in arrival order

	mu          sync.Mutex // guards the fields below, and the fields of every Call
	all         tally
	connections map[any]*tally
	identities  map[Identity]*tally
	spare       []*tally // unused tallies, all zero, kept for reuse
	refused     [kinds][scopes]uint64
}

// tally counts the open and in-progress calls of the server, a connection or an identity.
type tally struct {
	open, working [kinds]int
	calls         int // all open calls
}

func (t *tally) enter(k Kind) { t.open[k]++; t.calls++ }
func (t *tally) leave(k Kind) { t.open[k]--; t.calls-- }

// New returns a Control that enforces the given limits.
func New(limits Limits) *Control {
	return &Control{
		limits:       limits,
		waitingSlots: make(chan struct{}, limits.Working[Waiting]),
		connections:  make(map[any]*tally),
		identities:   make(map[Identity]*tally),
		spare:        make([]*tally, 0, 64),
	}
}

// Call is one admitted call. A nil *Call represents a Vital call, and its methods do nothing.
type Call struct {
	control    *Control
	kind       Kind
	connection any
	identity   Identity

	connectionTally, identityTally *tally // nil if not limited
	working                        bool
	ended                          bool
}

// Open admits a call before its message is read, or refuses it with an *OverloadedError. connection identifies a
// client's connection and must be comparable. It is nil for a connection from another member. The caller must call End.
func (c *Control) Open(kind Kind, connection any) (*Call, error) {
	if kind == Vital {
		return nil, nil //nolint:nilnil // documented on Call
	}
	call := &Call{control: c, kind: kind, connection: connection}
	c.mu.Lock()
	defer c.mu.Unlock()
	if limit := c.limits.Open[kind]; c.all.open[kind] >= limit {
		return nil, c.refuse(&OverloadedError{Kind: kind, Scope: Server, Open: true, Limit: limit})
	}
	if connection != nil {
		t := tallyOf(c, c.connections, connection)
		if limit := c.limits.openShare(kind); t.open[kind] >= limit {
			return nil, c.refuse(&OverloadedError{Kind: kind, Scope: Connection, Open: true, Limit: limit})
		}
		t.enter(kind)
		call.connectionTally = t
	}
	c.all.enter(kind)
	return call, nil
}

// Work marks a call as in progress after its message has been read, or refuses it with an *OverloadedError. A Waiting
// call waits for its turn instead, and Work may return the error from ctx. Work may run concurrently with End; after
// End it has no effect.
func (c *Call) Work(ctx context.Context, identity Identity) error {
	if c == nil {
		return nil
	}
	control := c.control
	control.mu.Lock()
	err := c.identify(identity)
	if err == nil && c.kind != Waiting {
		err = c.begin()
	}
	control.mu.Unlock()
	if err != nil || c.kind != Waiting {
		return err
	}
	select {
	case control.waitingSlots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	control.mu.Lock()
	defer control.mu.Unlock()
	if err = c.begin(); err != nil {
		<-control.waitingSlots
	}
	return err
}

// errEnded is returned only after End, when the result is no longer used.
var errEnded = errors.New("the call has ended")

// identify counts the call toward the identity's share. The caller must hold mu.
func (c *Call) identify(identity Identity) error {
	if identity == (Identity{}) {
		return nil
	}
	control := c.control
	if c.ended || c.identityTally != nil {
		return nil
	}
	t := tallyOf(control, control.identities, identity)
	if limit := control.limits.openShare(c.kind); t.open[c.kind] >= limit {
		return control.refuse(&OverloadedError{Kind: c.kind, Scope: OneIdentity, Open: true, Limit: limit})
	}
	t.enter(c.kind)
	c.identity, c.identityTally = identity, t
	return nil
}

// begin counts the call as in progress. The caller must hold mu.
func (c *Call) begin() error {
	control := c.control
	if c.ended {
		return errEnded
	}
	if c.kind != Waiting { // a Waiting call was limited when it got its slot
		share := control.limits.workingShare(c.kind)
		switch {
		case control.all.working[c.kind] >= control.limits.Working[c.kind]:
			return control.refuse(&OverloadedError{Kind: c.kind, Scope: Server, Limit: control.limits.Working[c.kind]})
		case c.connectionTally != nil && c.connectionTally.working[c.kind] >= share:
			return control.refuse(&OverloadedError{Kind: c.kind, Scope: Connection, Limit: share})
		case c.identityTally != nil && c.identityTally.working[c.kind] >= share:
			return control.refuse(&OverloadedError{Kind: c.kind, Scope: OneIdentity, Limit: share})
		}
	}
	c.working = true
	c.count(1)
	return nil
}

// Wait records that a Waiting call has sent its first response and will only wait from now on.
func (c *Call) Wait() {
	if c == nil {
		return
	}
	c.control.mu.Lock()
	defer c.control.mu.Unlock()
	c.markIdle()
}

// End ends the call. It must be called exactly once.
func (c *Call) End() {
	if c == nil {
		return
	}
	control := c.control
	control.mu.Lock()
	defer control.mu.Unlock()
	c.markIdle()
	c.ended = true
	control.all.leave(c.kind)
	leave(control, control.connections, c.connection, c.connectionTally, c.kind)
	leave(control, control.identities, c.identity, c.identityTally, c.kind)
}

// markIdle marks a call as no longer in progress. The caller must hold mu.
func (c *Call) markIdle() {
	if !c.working {
		return
	}
	c.working = false
	c.count(-1)
	if c.kind == Waiting {
		<-c.control.waitingSlots // frees this call's slot, so it does not block
	}
}

// count adds delta to the counts of calls in progress. The caller must hold mu.
func (c *Call) count(delta int) {
	for _, t := range [...]*tally{&c.control.all, c.connectionTally, c.identityTally} {
		if t != nil {
			t.working[c.kind] += delta
		}
	}
}

// refuse counts a refusal and returns e. The caller must hold mu.
func (c *Control) refuse(e *OverloadedError) error {
	c.refused[e.Kind][e.Scope]++
	return e
}

// OpenCalls returns the number of open calls.
func (c *Control) OpenCalls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.calls
}

// CallsInProgress returns the number of calls of a kind that are in progress.
func (c *Control) CallsInProgress(k Kind) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.working[k]
}

// Refused returns how many calls of a kind were refused because of a limit with the given scope.
func (c *Control) Refused(k Kind, s Scope) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[k][s]
}

// tallyOf returns the tally for a key, creating it if necessary. The caller must hold mu.
func tallyOf[K comparable](c *Control, tallies map[K]*tally, key K) *tally {
	t := tallies[key]
	if t == nil {
		if n := len(c.spare); n > 0 {
			t, c.spare = c.spare[n-1], c.spare[:n-1]
		} else {
			t = new(tally)
		}
		tallies[key] = t
	}
	return t
}

// leave removes an open call from a tally (which may be nil) and drops the tally when its last call ends. The caller
// must hold mu.
func leave[K comparable](c *Control, tallies map[K]*tally, key K, t *tally, k Kind) {
	if t == nil {
		return
	}
	if t.leave(k); t.calls > 0 {
		return
	}
	delete(tallies, key)
	if len(c.spare) < cap(c.spare) {
		c.spare = append(c.spare, t)
	}
}
