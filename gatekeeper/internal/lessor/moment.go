package lessor

import (
	"math"
	"time"
)

// moment is a reading of the monotonic clock, in nanoseconds since a lessor's base. It is small because a lease
// contains several of them, and a leader may have a million leases. The zero moment means unset, and is never "now".
type moment int64

// newBase returns the base for moments. It is in the past, so that no real time equals the zero moment.
func newBase() time.Time { return time.Now().Add(-time.Second) }

// moment converts t to a moment of this lessor. It returns 0 for the zero time.
func (l *Lessor) moment(t time.Time) moment {
	if t.IsZero() {
		return 0
	}
	return moment(t.Sub(l.base))
}

func (l *Lessor) now() moment { return moment(time.Since(l.base)) }

func (m moment) add(d time.Duration) moment {
	if m > 0 && d > 0 && m > math.MaxInt64-moment(d) {
		return math.MaxInt64
	}
	return m + moment(d)
}

func (m moment) sub(earlier moment) time.Duration { return time.Duration(m - earlier) }
