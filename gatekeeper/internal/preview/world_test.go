package preview

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// cluster is a state machine with what happened to it.
type cluster struct {
	t       *testing.T
	machine *fsm.Machine
	index   uint64
	now     time.Time
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, machine: fsm.New("test"), now: time.Unix(1_800_000_000, 0)}
	c.do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
	return c
}

func (c *cluster) state() *fsm.State { return c.machine.State() }

func (c *cluster) apply(cmd fsm.Command) fsm.Result {
	c.t.Helper()
	entry, err := fsm.Encode(max(1, min(c.state().FeatureLevel(), fsm.SupportedLevel)), []fsm.Command{cmd})
	if err != nil {
		c.t.Fatal(err)
	}
	c.index++
	results, err := c.machine.Apply(c.index, 1, entry)
	if err != nil {
		c.t.Fatal(err)
	}
	return results[0]
}

// do applies a change that does something, and returns its revision.
func (c *cluster) do(cmd fsm.Command) uint64 {
	c.t.Helper()
	before := c.state().Revision()
	if r := c.apply(cmd); c.state().Revision() == before {
		c.t.Fatalf("%+v did nothing: %+v", cmd, r)
	}
	return c.state().Revision()
}

// define creates or replaces a definition by what the test says of what it was, or of a complete default one.
func (c *cluster) define(name string, set func(*semaphore.Definition)) uint64 {
	c.t.Helper()
	return c.do(fsm.EditBatch{Changes: []fsm.Change{c.change(name, set)}, Author: "alice"})
}

func (c *cluster) change(name string, set func(*semaphore.Definition)) fsm.Change {
	d := &semaphore.Definition{
		Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 10, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
	change := fsm.Change{Kind: fsm.Create, Name: name, Definition: d}
	if sd := c.state().Definition(name); sd != nil {
		d = sd.Definition.Clone()
		change = fsm.Change{Kind: fsm.Replace, Name: name, Definition: d, ExpectedVersion: sd.Version}
	}
	if set != nil {
		set(d)
	}
	return change
}

func (c *cluster) deletion(name string) fsm.Change {
	return fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: c.state().Definition(name).Version}
}

func (c *cluster) grant(name, group, acquirer string) uint64 {
	c.t.Helper()
	r, _ := c.apply(fsm.Grant{
		Semaphore: name, Identity: semaphore.Identity{Group: group, Acquirer: acquirer}, Weight: 1,
		DefinitionVersion: c.state().Definition(name).Version, CordonRevision: c.state().CordonRevision(),
	}).(fsm.GrantResult)
	if r.Permit == nil {
		c.t.Fatalf("not granted: %+v", r)
	}
	return r.Permit.Token
}

// saw notes callers, "group/acquirer" each.
func (c *cluster) saw(callers ...[2]string) {
	c.t.Helper()
	var list []fsm.Sighting
	for _, s := range callers {
		list = append(list, fsm.Sighting{Group: s[0], Acquirer: s[1], At: c.now})
	}
	c.apply(fsm.Sight{Term: 1, Sightings: list})
}

// patterns match as the keeper's do, and are a leader.
type patterns struct{}

func (patterns) Match(pattern, name string) bool {
	p, err := semaphore.CompilePattern("pattern", pattern)
	return err == nil && p.Match(name)
}

func (p patterns) Catches(group, acquirer string, id semaphore.Identity) bool {
	return group != "" && p.Match(group, id.Group) || acquirer != "" && p.Match(acquirer, id.Acquirer)
}

// StopLeft is that of a leader under which every drain has its whole time left.
func (patterns) StopLeft(_ *semaphore.Permit, s semaphore.Stop) (left time.Duration) {
	for _, d := range s.Drains {
		left = max(left, d.Duration)
	}
	return left
}

// hurried is a leader under which time passes between two answers.
type hurried struct {
	patterns
	answers int
}

func (h *hurried) StopLeft(p *semaphore.Permit, s semaphore.Stop) time.Duration {
	h.answers++
	return h.patterns.StopLeft(p, s) - time.Duration(h.answers)
}

func group(pattern string) func(*semaphore.Definition) {
	return func(d *semaphore.Definition) { d.GroupPattern = pattern }
}
