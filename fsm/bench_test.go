package fsm_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// newLargeLog returns a log with the given number of semaphores, each with a realistic name and 1,000,000 permits.
func newLargeLog(tb tester, semaphores int) (*log, []string) {
	l := newLog(tb)
	names := make([]string, semaphores)
	batch := edits()
	for i := range names {
		names[i] = fmt.Sprintf("ci-kubernetes-e2e-gce-%05d", i)
		batch.Changes = append(batch.Changes, create(definition(names[i], permits(semaphore.MaxPermits))))
	}
	l.apply(batch)
	return l, names
}

// fill grants n permits to realistic identities, and drops the entries and events that the log keeps.
func (l *log) fill(names []string, n int) {
	for i := 0; i < n; {
		var cmds []fsm.Command
		for ; len(cmds) < 256 && i < n; i++ {
			cmds = append(cmds, l.realisticGrant(names, i))
		}
		l.apply(cmds...)
	}
	l.entries, l.events = nil, nil
}

func (l *log) realisticGrant(names []string, i int) fsm.Grant {
	g := l.request(names[i%len(names)], "")
	g.Identity = semaphore.Identity{Group: "prod", Acquirer: fmt.Sprintf("app-%d", i%1000), HolderID: fmt.Sprintf("0193b3a5-8c4f-7d2e-9a1b-%012x", i)}
	g.RequestID = fmt.Sprintf("0193b3a5-8c4f-7d2e-8a1c-%012x", i)
	return g
}

// BenchmarkApply measures an entry of 256 grants and an entry of the matching releases, first with no other permits, as
// in a small cluster under load, and then with 100,000 permits in 10,000 semaphores.
func BenchmarkApply(b *testing.B) {
	for _, existing := range []int{0, 100_000} {
		l, names := newLargeLog(b, max(64, existing/10))
		l.fill(names, existing)
		next := existing
		// Fill the remembered requests and the journal, as a few seconds of load would.
		for range 400 {
			grants, releases := l.round(names, &next)
			l.apply(grants...)
			l.apply(releases...)
			l.entries = nil
		}
		apply := func(e []byte) {
			l.index++
			if _, err := l.m.Apply(l.index, l.term, e); err != nil {
				b.Fatal(err)
			}
		}
		for _, what := range []string{"grants", "releases"} {
			b.Run(fmt.Sprintf("256 %s with %d permits", what, existing), func(b *testing.B) {
				b.ReportAllocs()
				b.StopTimer()
				for range b.N {
					grants, releases := l.round(names, &next)
					first, second := encode(b, grants), encode(b, releases)
					if what == "grants" {
						b.StartTimer()
					}
					apply(first)
					b.StopTimer()
					if what == "releases" {
						b.StartTimer()
					}
					apply(second)
					b.StopTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*256), "ns/command")
			})
		}
	}
}

// round returns 256 grants and the matching releases.
func (l *log) round(names []string, next *int) (grants, releases []fsm.Command) {
	token := l.state().LastToken()
	for i := range uint64(256) {
		grants = append(grants, l.realisticGrant(names, *next))
		releases = append(releases, fsm.Release{Token: token + 1 + i, At: at(2)})
		*next++
	}
	return grants, releases
}

func encode(tb tester, cmds []fsm.Command) []byte {
	tb.Helper()
	e, err := fsm.Encode(fsm.SupportedLevel, cmds)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func BenchmarkEncode(b *testing.B) {
	l, names := newLargeLog(b, 10)
	cmds := make([]fsm.Command, 256)
	for i := range cmds {
		cmds[i] = l.realisticGrant(names, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fsm.Encode(fsm.SupportedLevel, cmds); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	l, names := newLargeLog(b, 10_000)
	l.fill(names, 100_000)
	b.Run("write 100,000 permits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := l.state().Snapshot(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hash 100,000 permits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			hash(b, l.state())
		}
	})
	file := snapshot(b, l.state())
	b.Run("restore 100,000 permits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := fsm.New("").Restore(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFacts measures how long the leader takes to decide a request.
func BenchmarkFacts(b *testing.B) {
	l, names := newLargeLog(b, 10_000)
	l.fill(names, 100_000)
	s := l.state()
	req := semaphore.Request{Semaphore: names[77], Identity: identity("a"), Weight: 1}
	b.ReportAllocs()
	for b.Loop() {
		f := s.Facts(&req, "")
		f.Admission = semaphore.Admitted()
		semaphore.Decide(&req, &f)
	}
}

// A permit, including its indexes, must take at most 500 bytes, so that a server can hold a million permits.
func TestMemory_BytesPerPermit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const count = 200_000
	l, names := newLargeLog(t, 1000)
	before := heap()
	l.fill(names, count)
	grown := int64(heap()) - int64(before)
	perPermit := grown / count
	t.Logf("%d bytes per permit at %d permits", perPermit, count)
	if perPermit > 500 && !raceEnabled {
		t.Errorf("%d bytes per permit, want at most 500", perPermit)
	}

	// The limit also applies after a restart.
	file := snapshot(t, l.state())
	before = heap()
	m := fsm.New("")
	if err := m.Restore(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	grown = int64(heap()) - int64(before)
	t.Logf("%d bytes per permit after restore", grown/count)
	if grown/count > 500 && !raceEnabled {
		t.Errorf("%d bytes per permit after restore, want at most 500", grown/count)
	}
	runtime.KeepAlive(m)
	runtime.KeepAlive(l)
	runtime.KeepAlive(file)
}

// A definition with two labels and its journal entry must take at most 1 KiB, so that a server can hold 100,000
// definitions.
func TestMemory_BytesPerDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const count = 50_000
	l := newLog(t)
	before := heap()
	for i := range count / 1000 {
		batch := edits()
		for j := range 1000 {
			batch.Changes = append(batch.Changes, create(definition(fmt.Sprintf("ci-kubernetes-e2e-gce-%05d", 1000*i+j), func(d *semaphore.Definition) {
				d.GroupPattern, d.Labels = "k8s-infra-prow-build", semaphore.Labels{{Key: "dashboard", Value: "sig-release-master-blocking"}, {Key: "team", Value: "release"}}
			})))
		}
		l.apply(batch)
	}
	l.entries, l.events = nil, nil
	perDefinition := (int64(heap()) - int64(before)) / count
	t.Logf("%d bytes per definition at %d definitions", perDefinition, count)
	if perDefinition > 1024 && !raceEnabled {
		t.Errorf("%d bytes per definition, want at most 1024", perDefinition)
	}

	// The limit also applies after a restart.
	file := snapshot(t, l.state())
	before = heap()
	m := fsm.New("")
	if err := m.Restore(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	perDefinition = (int64(heap()) - int64(before)) / count
	t.Logf("%d bytes per definition after restore", perDefinition)
	if perDefinition > 1024 && !raceEnabled {
		t.Errorf("%d bytes per definition after restore, want at most 1024", perDefinition)
	}
	runtime.KeepAlive(m)
	runtime.KeepAlive(l)
	runtime.KeepAlive(file)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
