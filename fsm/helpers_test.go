package fsm_test

import (
	"bytes"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const clusterID = "5eed.1"

// tester is the subset of *testing.T, *testing.B and *rapid.T that the helpers need.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// log encodes commands as entries and applies them to a machine.
type log struct {
	tb      tester
	m       *fsm.Machine
	index   uint64
	term    uint64
	entries [][]byte
	events  []fsm.Event // of the last entry
}

func newLog(tb tester) *log {
	l := &log{tb: tb, m: fsm.New(clusterID), term: 3}
	l.m.Subscribe(func(a fsm.Applied) { l.events = a.Events })
	return l
}

// newLevel2Log returns the log of a cluster at feature level 2.
func newLevel2Log(tb tester) *log {
	l := newLog(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 2})
	return l
}

// apply applies commands as one entry and returns their results.
func (l *log) apply(cmds ...fsm.Command) []fsm.Result {
	l.tb.Helper()
	entry, err := fsm.Encode(fsm.SupportedLevel, cmds)
	if err != nil {
		l.tb.Fatalf("Encode: %v", err)
	}
	l.index++
	l.entries = append(l.entries, entry)
	results, err := l.m.Apply(l.index, l.term, entry)
	if err != nil {
		l.tb.Fatalf("Apply: %v", err)
	}
	if len(results) != len(cmds) {
		l.tb.Fatalf("got %d results for %d commands", len(results), len(cmds))
	}
	return results
}

func (l *log) state() *fsm.State { return l.m.State() }

// applyOne applies a command and returns its result, which must be an R.
func applyOne[R fsm.Result](l *log, cmd fsm.Command) R {
	l.tb.Helper()
	r := l.apply(cmd)[0]
	want, ok := r.(R)
	if !ok {
		l.tb.Fatalf("%T: result = %T %+[2]v, want %T", cmd, r, want)
	}
	return want
}

// unchanged checks that cmd changes nothing, and returns its result.
func unchanged[R fsm.Result](l *log, cmd fsm.Command) R {
	l.tb.Helper()
	before := snapshotRecords(l.tb, l.state())
	r := applyOne[R](l, cmd)
	if diff := cmp.Diff(before, snapshotRecords(l.tb, l.state())); diff != "" {
		l.tb.Fatalf("%T changed the state:\n%s", cmd, diff)
	}
	if len(l.events) != 0 {
		l.tb.Fatalf("%T changed nothing but emitted %d events", cmd, len(l.events))
	}
	return r
}

// define creates a semaphore and returns its stored definition.
func (l *log) define(name string, change ...func(*semaphore.Definition)) *fsm.StoredDefinition {
	l.tb.Helper()
	d := definition(name, change...)
	r := applyOne[fsm.EditResult](l, fsm.EditBatch{Changes: []fsm.Change{{Kind: fsm.Create, Name: name, Definition: d}}, Author: "ann", At: at(0)})
	if r.Conflict != nil || r.Revision == 0 {
		l.tb.Fatalf("define %q: %+v", name, r)
	}
	return l.state().Definition(name)
}

// request returns a grant of weight 1 as the leader would propose it.
func (l *log) request(sem, holder string, change ...func(*fsm.Grant)) fsm.Grant {
	g := fsm.Grant{Semaphore: sem, Identity: identity(holder), Weight: 1, CordonRevision: l.state().CordonRevision(), At: at(1)}
	if d := l.state().Definition(sem); d != nil {
		g.DefinitionVersion = d.Version
	}
	for _, c := range change {
		c(&g)
	}
	return g
}

// grant applies a grant and returns the permit. It fails the test if the grant is refused.
func (l *log) grant(sem, holder string, change ...func(*fsm.Grant)) *semaphore.Permit {
	l.tb.Helper()
	r := applyOne[fsm.GrantResult](l, l.request(sem, holder, change...))
	if r.Outcome != fsm.GrantGranted {
		l.tb.Fatalf("grant of %s to %s: got %+v", sem, holder, r)
	}
	return r.Permit
}

func definition(name string, change ...func(*semaphore.Definition)) *semaphore.Definition {
	d := &semaphore.Definition{
		Name: name, GroupPattern: semaphore.DefaultPattern, AcquirerPattern: semaphore.DefaultPattern, Permits: semaphore.DefaultPermits,
		Duration: semaphore.DefaultDuration, OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
		FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
	}
	for _, c := range change {
		c(d)
	}
	return d
}

func permits(n uint32) func(*semaphore.Definition) {
	return func(d *semaphore.Definition) { d.Permits = n }
}
func hold(d *semaphore.Definition)         { d.OnExpiry = semaphore.OnExpiryHold }
func freeOnLoss(d *semaphore.Definition)   { d.FiringOnLoss = semaphore.FiringFree }
func requestID(id string) func(*fsm.Grant) { return func(g *fsm.Grant) { g.RequestID = id } }
func weight(n uint32) func(*fsm.Grant)     { return func(g *fsm.Grant) { g.Weight = n } }
func firing(name string, due int) func(*fsm.Grant) {
	return func(g *fsm.Grant) { g.Firing = newFiring(name, due) }
}

// newFiring returns a firing that is due at the given second, or has no due time if due is 0.
func newFiring(name string, due int) *semaphore.Firing {
	f := &semaphore.Firing{Name: name}
	if due != 0 {
		f.Due = at(due)
	}
	return f
}

func identity(holder string) semaphore.Identity {
	return semaphore.Identity{Group: "prod", Acquirer: "app-" + holder, HolderID: holder}
}

// nanos returns t in Unix nanoseconds, or 0 for the zero time, as permits store it.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func at(second int) time.Time { return time.Unix(1_800_000_000+int64(second), 0).UTC() }

func snapshot(tb tester, s *fsm.State) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := s.Snapshot(&b); err != nil {
		tb.Fatalf("Snapshot: %v", err)
	}
	return b.Bytes()
}

func hash(tb tester, s *fsm.State) [32]byte {
	tb.Helper()
	h, err := s.Hash()
	if err != nil {
		tb.Fatalf("Hash: %v", err)
	}
	return h
}

// restored returns a machine restored from a snapshot of s.
func restored(tb tester, s *fsm.State) *fsm.Machine {
	tb.Helper()
	m := fsm.New("")
	if err := m.Restore(bytes.NewReader(snapshot(tb, s))); err != nil {
		tb.Fatalf("Restore: %v", err)
	}
	return m
}

func collect[T any](seq iter.Seq[T]) []T { return slices.Collect(seq) }

// equal compares two values, treating nil and empty as equal.
func equal(tb tester, what string, got, want any) {
	tb.Helper()
	if diff := difference(want, got); diff != "" {
		tb.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// difference returns cmp.Diff, treating nil and empty as equal. It first tries reflect.DeepEqual, which is much cheaper
// and at least as strict.
func difference(want, got any, opts ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, append(opts, cmpopts.EquateEmpty())...)
}

func kinds(events []fsm.Event) []fsm.EventKind {
	var out []fsm.EventKind
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

func tokens(permits []*semaphore.Permit) []uint64 {
	var out []uint64
	for _, p := range permits {
		out = append(out, p.Token)
	}
	return out
}
