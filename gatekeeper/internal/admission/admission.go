package admission

import (
	"context"
	"errors"
	"sync"
)

// Identity is a group and an acquirer. The zero Identity is nobody's, and not limited.
type Identity struct{ Group, Acquirer string }

// Control counts the calls of one server. Its methods may be called from any goroutine.
type Control struct {
	limits Limits
	turns  chan struct{} // holds one for each Waiting call in work; those that wait for room stand in line, first come first served

	mu          sync.Mutex // guards what follows, and the fields of every Call
	all         tally
	connections map[any]*tally
	identities  map[Identity]*tally
	spare       []*tally // all zero: callers come and go with each call
	refused     [kinds][scopes]uint64
}

// tally is what somebody has open and in work.
type tally struct {
	open, working [kinds]int
	calls         int // all that are open
}

func (t *tally) enter(k Kind) { t.open[k]++; t.calls++ }
func (t *tally) leave(k Kind) { t.open[k]--; t.calls-- }

// New returns a Control with these limits.
func New(limits Limits) *Control {
	return &Control{
		limits:      limits,
		turns:       make(chan struct{}, limits.Working[Waiting]),
		connections: make(map[any]*tally),
		identities:  make(map[Identity]*tally),
		spare:       make([]*tally, 0, 64),
	}
}

// Call is one call that was let in. The nil Call is a vital one, and its methods do nothing.
type Call struct {
	control    *Control
	kind       Kind
	connection any
	identity   Identity

	ofConnection, ofIdentity *tally // nil: not limited
	working                  bool
	ended                    bool
}

// Open lets a call in, before anything of it is read, or refuses it with an *OverloadedError. connection is comparable
// and tells the connections of clients apart; it is nil for one of another member. End must follow.
func (c *Control) Open(kind Kind, connection any) (*Call, error) {
	if kind == Vital {
		return nil, nil //nolint:nilnil // documented on Call
	}
	call := &Call{control: c, kind: kind, connection: connection}
	c.mu.Lock()
	defer c.mu.Unlock()
	if most := c.limits.Open[kind]; c.all.open[kind] >= most {
		return nil, c.refuse(&OverloadedError{Kind: kind, Scope: Server, Open: true, Limit: most})
	}
	if connection != nil {
		t := tallyOf(c, c.connections, connection)
		if most := c.limits.openOf(kind); t.open[kind] >= most {
			return nil, c.refuse(&OverloadedError{Kind: kind, Scope: Connection, Open: true, Limit: most})
		}
		t.enter(kind)
		call.ofConnection = t
	}
	c.all.enter(kind)
	return call, nil
}

// Work begins the work of a call whose message was read, or refuses it with an *OverloadedError. A Waiting call waits
// for its turn instead: then an error may be that of ctx. It may be called while End is, and begins nothing then.
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
	case control.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	control.mu.Lock()
	defer control.mu.Unlock()
	if err = c.begin(); err != nil {
		<-control.turns
	}
	return err
}

// errEnded is never seen by a caller: the call is over.
var errEnded = errors.New("the call has ended")

// identify counts the call as one of that identity's. The caller holds mu.
func (c *Call) identify(identity Identity) error {
	if identity == (Identity{}) {
		return nil
	}
	control := c.control
	if c.ended || c.ofIdentity != nil {
		return nil
	}
	t := tallyOf(control, control.identities, identity)
	if most := control.limits.openOf(c.kind); t.open[c.kind] >= most {
		return control.refuse(&OverloadedError{Kind: c.kind, Scope: OneIdentity, Open: true, Limit: most})
	}
	t.enter(c.kind)
	c.identity, c.ofIdentity = identity, t
	return nil
}

// begin counts the call as in work. The caller holds mu.
func (c *Call) begin() error {
	control := c.control
	if c.ended {
		return errEnded
	}
	if c.kind != Waiting { // these took a turn, and are limited by that
		part := control.limits.workingOf(c.kind)
		switch {
		case control.all.working[c.kind] >= control.limits.Working[c.kind]:
			return control.refuse(&OverloadedError{Kind: c.kind, Scope: Server, Limit: control.limits.Working[c.kind]})
		case c.ofConnection != nil && c.ofConnection.working[c.kind] >= part:
			return control.refuse(&OverloadedError{Kind: c.kind, Scope: Connection, Limit: part})
		case c.ofIdentity != nil && c.ofIdentity.working[c.kind] >= part:
			return control.refuse(&OverloadedError{Kind: c.kind, Scope: OneIdentity, Limit: part})
		}
	}
	c.working = true
	c.count(1)
	return nil
}

// Wait says that a Waiting call was given its first answer and from now on waits.
func (c *Call) Wait() {
	if c == nil {
		return
	}
	c.control.mu.Lock()
	defer c.control.mu.Unlock()
	c.rest()
}

// End is called once, when the call is over.
func (c *Call) End() {
	if c == nil {
		return
	}
	control := c.control
	control.mu.Lock()
	defer control.mu.Unlock()
	c.rest()
	c.ended = true
	control.all.leave(c.kind)
	leave(control, control.connections, c.connection, c.ofConnection, c.kind)
	leave(control, control.identities, c.identity, c.ofIdentity, c.kind)
}

// rest ends the work of a call. The caller holds mu.
func (c *Call) rest() {
	if !c.working {
		return
	}
	c.working = false
	c.count(-1)
	if c.kind == Waiting {
		<-c.control.turns // its own: it does not block
	}
}

// count adds to what is in work. The caller holds mu.
func (c *Call) count(by int) {
	for _, t := range [...]*tally{&c.control.all, c.ofConnection, c.ofIdentity} {
		if t != nil {
			t.working[c.kind] += by
		}
	}
}

// refuse counts a refusal. The caller holds mu.
func (c *Control) refuse(e *OverloadedError) error {
	c.refused[e.Kind][e.Scope]++
	return e
}

// IsOpen is how many calls are open.
func (c *Control) IsOpen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.calls
}

// InWork is how many calls of a kind are in work.
func (c *Control) InWork(k Kind) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.working[k]
}

// Refused is how many calls of a kind were refused for a limit of that scope.
func (c *Control) Refused(k Kind, s Scope) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused[k][s]
}

// tallyOf finds a tally, or makes one. The caller holds mu.
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

// leave takes an open call off a tally, which may be nil, and forgets the tally with the last of them. The caller holds
// mu.
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
