// Package statetest provides a state machine for testing packages that read its state.
package statetest

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Cluster is a state machine that fails its test if a command cannot be applied.
type Cluster struct {
	T       *testing.T
	Now     time.Time // time of sightings
	machine *fsm.Machine
	index   uint64
}

// New returns an empty state machine at the newest feature level.
func New(t *testing.T) *Cluster {
	t.Helper()
	c := NewLevel1(t)
	c.Do(fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
	return c
}

// NewLevel1 returns an empty state machine at the first feature level.
func NewLevel1(t *testing.T) *Cluster {
	return &Cluster{T: t, machine: fsm.New("test"), Now: time.Unix(1_800_000_000, 0)}
}

// State returns the current state.
func (c *Cluster) State() *fsm.State { return c.machine.State() }

// Apply applies a command in a separate entry.
func (c *Cluster) Apply(cmd fsm.Command) fsm.Result {
	c.T.Helper()
	entry, err := fsm.Encode(max(1, min(c.State().FeatureLevel(), fsm.SupportedLevel)), []fsm.Command{cmd})
	if err != nil {
		c.T.Fatal(err)
	}
	c.index++
	results, err := c.machine.Apply(c.index, 1, entry)
	if err != nil {
		c.T.Fatal(err)
	}
	return results[0]
}

// Do applies a command that must change the state, and returns the new revision.
func (c *Cluster) Do(cmd fsm.Command) uint64 {
	c.T.Helper()
	before := c.State().Revision()
	if r := c.Apply(cmd); c.State().Revision() == before {
		c.T.Fatalf("%+v did not change the state: %+v", cmd, r)
	}
	return c.State().Revision()
}

// Define creates a definition with 10 permits that admits every caller, or replaces the existing one. set, if not nil,
// modifies it first.
func (c *Cluster) Define(name string, set func(*semaphore.Definition)) uint64 {
	c.T.Helper()
	return c.Do(fsm.EditBatch{Changes: []fsm.Change{c.Change(name, set)}, Author: "alice"})
}

// Change returns the edit that Define makes.
func (c *Cluster) Change(name string, set func(*semaphore.Definition)) fsm.Change {
	d := &semaphore.Definition{
		Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 10, Duration: time.Minute,
		OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
	change := fsm.Change{Kind: fsm.Create, Name: name, Definition: d}
	if sd := c.State().Definition(name); sd != nil {
		d = sd.Definition.Clone()
		change = fsm.Change{Kind: fsm.Replace, Name: name, Definition: d, ExpectedVersion: sd.Version}
	}
	if set != nil {
		set(d)
	}
	return change
}

// Deletion returns an edit that deletes a definition.
func (c *Cluster) Deletion(name string) fsm.Change {
	return fsm.Change{Kind: fsm.Delete, Name: name, ExpectedVersion: c.State().Definition(name).Version}
}

// Grant grants a permit of weight 1 and returns its token.
func (c *Cluster) Grant(name, group, acquirer string) uint64 {
	c.T.Helper()
	r, _ := c.Apply(fsm.Grant{
		Semaphore: name, Identity: semaphore.Identity{Group: group, Acquirer: acquirer}, Weight: 1,
		DefinitionVersion: c.State().Definition(name).Version, CordonRevision: c.State().CordonRevision(),
	}).(fsm.GrantResult)
	if r.Permit == nil {
		c.T.Fatalf("not granted: %+v", r)
	}
	return r.Permit.Token
}

// Sight records sightings of callers. Each caller is a group and an acquirer.
func (c *Cluster) Sight(callers ...[2]string) {
	c.T.Helper()
	var list []fsm.Sighting
	for _, s := range callers {
		list = append(list, fsm.Sighting{Group: s[0], Acquirer: s[1], At: c.Now})
	}
	c.Apply(fsm.Sight{Term: 1, Sightings: list})
}

// Patterns matches patterns the way the keeper does, and stands in for a leader.
type Patterns struct{}

// Match reports whether pattern matches the whole name.
func (Patterns) Match(pattern, name string) bool {
	p, err := semaphore.CompilePattern("pattern", pattern)
	return err == nil && p.Match(name)
}

// Catches reports whether one of the nonempty patterns matches.
func (p Patterns) Catches(group, acquirer string, id semaphore.Identity) bool {
	return group != "" && p.Match(group, id.Group) || acquirer != "" && p.Match(acquirer, id.Acquirer)
}

// TimeToStop returns the full duration of the longest drain, as a leader does when all drains have just started.
func (Patterns) TimeToStop(_ *semaphore.Permit, s semaphore.Stop) (left time.Duration) {
	for _, d := range s.Drains {
		left = max(left, d.Duration)
	}
	return left
}

// Group returns a function for Define that sets the group pattern.
func Group(pattern string) func(*semaphore.Definition) {
	return func(d *semaphore.Definition) { d.GroupPattern = pattern }
}
