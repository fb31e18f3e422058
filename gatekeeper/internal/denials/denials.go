package denials

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxSemaphores is how many semaphores the memory keeps, and maxStrangers how many callers of names without a
	// definition.
	maxSemaphores = 2000
	maxStrangers  = 200
	// maxPerShelf is how many callers it keeps of one semaphore, and how many names of one stranger.
	maxPerShelf = 8
	// kept is for how long it keeps a caller that does not ask again.
	kept = 7 * 24 * time.Hour
)

// Denial is what a caller was denied, and why, from the first denial for that reason to the last.
type Denial struct {
	// Request is the last one.
	semaphore.Request
	Reason semaphore.Reason
	// Message is the sentence of the last denial.
	Message     string
	Count       int
	First, Last time.Time
	// Passed: the caller asked again after Last, and nothing but a free permit was missing.
	Passed bool

	changed uint64 // the value of Memory.changes when it began, was repeated for the first time, or passed
}

// Memory remembers denials. The zero value is empty and ready. It is safe for concurrent use.
type Memory struct {
	// count is how many denials there are, for calls that only want to know that it is 0.
	count atomic.Int64

	mu sync.Mutex // guards all below
	// known is by semaphore; unknown holds the denials of names without a definition, by caller.
	known, unknown pool
	changes        uint64
}

// Denied notes a denial, at that time by the leader's clock.
func (m *Memory) Denied(req semaphore.Request, reason semaphore.Reason, message string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	into, from, most := &m.known, &m.unknown, maxSemaphores
	key, other := bySemaphore(&req), byCaller(&req)
	if reason == semaphore.NoSuchSemaphore {
		into, from, most, key, other = from, into, maxStrangers, other, key
	}
	from.remove(other, &req) // the definition has come or gone since
	d := into.find(key, &req)
	if d == nil {
		d = into.add(key, most)
	}
	if d.Passed || d.Reason != reason {
		*d = Denial{Reason: reason, First: at}
	}
	d.Request, d.Message, d.Last = req, message, at
	if d.Count++; d.Count <= 2 {
		m.note(d)
	}
	m.count.Store(int64(m.known.count + m.unknown.count))
}

// Passed notes that nothing but a free permit stood in the way of a request. A memory without denials costs one look at
// a counter.
func (m *Memory) Passed(req *semaphore.Request) {
	if m.count.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range []*Denial{m.known.find(bySemaphore(req), req), m.unknown.find(byCaller(req), req)} {
		if d != nil && !d.Passed {
			d.Passed = true
			m.note(d)
		}
	}
}

// note counts a change of a denial. The caller holds mu.
func (m *Memory) note(d *Denial) {
	m.changes++
	d.changed = m.changes
}

// Changed returns the defined semaphores with a denial that began, was repeated for the first time, or passed since an
// earlier call returned after. Later repetitions are not changes: a caller that keeps asking makes no noise.
func (m *Memory) Changed(after uint64) (names []string, now uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == after {
		return nil, after
	}
	for key, at := range m.known.shelves {
		if slices.ContainsFunc(at.Value.(*shelf).denials, func(d Denial) bool { return d.changed > after }) {
			names = append(names, key.semaphore)
		}
	}
	slices.Sort(names)
	return names, m.changes
}

// Of returns the denials of a semaphore that are not too old at that time, the newest first, without those from before
// it was defined: it costs one look into a map, for listings of many definitions.
func (m *Memory) Of(name string, now time.Time) []Denial {
	if m.count.Load() == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := fresh(m.known.of(name), now)
	slices.SortStableFunc(found, newestFirst)
	return found
}

// All returns all denials that are not too old at that time, the newest first.
func (m *Memory) All(now time.Time) []Denial {
	if m.count.Load() == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := fresh(append(m.known.all(), m.unknown.all()...), now)
	slices.SortFunc(all, func(a, b Denial) int { // in one order, though many are of the same instant
		return cmp.Or(newestFirst(a, b), cmp.Compare(a.Semaphore, b.Semaphore),
			cmp.Compare(a.Identity.Group, b.Identity.Group), cmp.Compare(a.Identity.Acquirer, b.Identity.Acquirer))
	})
	return all
}

// Clear forgets everything.
func (m *Memory) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.unknown = pool{}, pool{}
	m.count.Store(0)
}

func newestFirst(a, b Denial) int { return b.Last.Compare(a.Last) }

// fresh copies those that are not too old.
func fresh(denials []Denial, now time.Time) []Denial {
	return slices.DeleteFunc(slices.Clone(denials), func(d Denial) bool { return now.Sub(d.Last) > kept })
}
