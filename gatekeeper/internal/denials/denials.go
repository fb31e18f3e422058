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
	// maxSemaphores limits the number of semaphores in memory, and maxUnknownCallers the number of callers that request
	// undefined names.
	maxSemaphores     = 2000
	maxUnknownCallers = 200
	// maxPerBucket limits the callers kept for one semaphore, and the undefined names kept for one caller.
	maxPerBucket = 8
	// retention is how long a denial is kept after it was last repeated.
	retention = 7 * 24 * time.Hour
)

// Denial summarizes a caller's consecutive denials for the same semaphore and reason.
type Denial struct {
	// Request is the last denied request.
	semaphore.Request
	Reason semaphore.Reason
	// Message is the message of the last denial.
	Message     string
	Count       int
	First, Last time.Time
	// Passed is set if the caller retried after Last and was either not denied or denied only for lack of a free
	// permit.
	Passed bool

	changed uint64 // the value of Recorder.changes when the denial began, was repeated for the first time, or passed
}

// Recorder records denials. The zero value is ready to use. It is safe for concurrent use.
type Recorder struct {
	// count is the number of denials. Calls read it without the lock, to return early if there are none.
	count atomic.Int64

	mu sync.Mutex // guards the fields below
	// known holds denials for defined names, by semaphore. unknown holds denials for undefined names, by caller.
	known, unknown pool
	changes        uint64
}

// Denied records a denial. at is the time according to the leader's clock.
func (m *Recorder) Denied(req semaphore.Request, reason semaphore.Reason, message string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	into, from, limit := &m.known, &m.unknown, maxSemaphores
	key, other := bySemaphore(&req), byCaller(&req)
	if reason == semaphore.NoSuchSemaphore {
		into, from, limit, key, other = from, into, maxUnknownCallers, other, key
	}
	from.remove(other, &req) // recorded before the definition was created or deleted
	d := into.find(key, &req)
	if d == nil {
		d = into.add(key, limit)
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

// Passed records that a request was not denied, or was denied only for lack of a free permit. If there are no denials,
// it only reads a counter.
func (m *Recorder) Passed(req *semaphore.Request) {
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

// note records a change to a denial. The caller must hold mu.
func (m *Recorder) note(d *Denial) {
	m.changes++
	d.changed = m.changes
}

// Changed returns the names of the defined semaphores with a denial that has begun, been repeated for the first time,
// or passed since an earlier call to Changed. after is the value of now that the earlier call returned. Later
// repetitions are not changes, so a caller that keeps retrying causes no updates.
func (m *Recorder) Changed(after uint64) (names []string, now uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes == after {
		return nil, after
	}
	for key, at := range m.known.buckets {
		if slices.ContainsFunc(at.Value.(*bucket).denials, func(d Denial) bool { return d.changed > after }) {
			names = append(names, key.semaphore)
		}
	}
	slices.Sort(names)
	return names, m.changes
}

// Of returns the denials for a semaphore that are not too old at time now, newest first. It omits denials from before
// the semaphore was defined. It costs one map lookup, so it is suitable for listing many definitions.
func (m *Recorder) Of(name string, now time.Time) []Denial {
	if m.count.Load() == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found := fresh(m.known.get(name), now)
	slices.SortStableFunc(found, newestFirst)
	return found
}

// All returns all denials that are not too old at time now, newest first.
func (m *Recorder) All(now time.Time) []Denial {
	if m.count.Load() == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := fresh(append(m.known.all(), m.unknown.all()...), now)
	slices.SortFunc(all, func(a, b Denial) int { // a stable order, even if many denials have the same time
		return cmp.Or(newestFirst(a, b), cmp.Compare(a.Semaphore, b.Semaphore),
			cmp.Compare(a.Identity.Group, b.Identity.Group), cmp.Compare(a.Identity.Acquirer, b.Identity.Acquirer))
	})
	return all
}

// Clear removes all denials.
func (m *Recorder) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.unknown = pool{}, pool{}
	m.count.Store(0)
}

func newestFirst(a, b Denial) int { return b.Last.Compare(a.Last) }

// fresh returns a copy of the denials that are not too old.
func fresh(denials []Denial, now time.Time) []Denial {
	return slices.DeleteFunc(slices.Clone(denials), func(d Denial) bool { return now.Sub(d.Last) > retention })
}
