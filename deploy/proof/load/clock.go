package load

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// stepped is a clock that runs faster or slower than the run's clock, and can be stepped.
type stepped struct {
	rate  float64
	steps atomic.Int64 // sum of all steps in nanoseconds
}

func (s *stepped) Now() time.Duration {
	return time.Duration(float64(boottime.Now())*s.rate) + time.Duration(s.steps.Load())
}

// mostBack is the largest step backward. Real clocks used for permits are never set back. They may pause, as long as
// the pause is within the permitted difference between clocks. The shortest permits last half a second.
const mostBack = 3 * time.Millisecond

// Step steps the clock of one client: forward, as after its machine was suspended, or back by very little. It returns
// the client and the step.
func (c *Clients) Step(random *rand.Rand) (name string, by time.Duration) {
	i := random.IntN(len(c.clocks))
	switch random.IntN(3) {
	case 0:
		by = time.Duration(random.Int64N(int64(50 * time.Millisecond)))
	case 1:
		by = time.Duration(random.Int64N(int64(5 * time.Second)))
	default:
		by = -time.Duration(random.Int64N(int64(mostBack)))
	}
	c.clocks[i].steps.Add(int64(by))
	return libraryName(i), by
}
