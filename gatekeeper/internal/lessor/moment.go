package lessor

import (
	"math"
	"time"
)

// moment is a time by the monotonic clock: nanoseconds since a lessor's base. A lease keeps several, and a leader a
// million leases. The zero moment is none, and never is "now".
type moment int64

// newBase returns where moments are counted from. It lies before everything that will be counted, so that no time is
// the zero moment.
func newBase() time.Time { return time.Now().Add(-time.Second) }

// moment is t in this lessor's count; none for the zero time.
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
