package load

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// steppedClock is a clock that runs faster or slower than the run's clock, and can be stepped.
type steppedClock struct {
	rate  float64
	steps atomic.Int64 // sum of all steps in nanoseconds
}

func (s *steppedClock) Now() time.Duration {
	return time.Duration(float64(boottime.Now())*s.rate) + time.Duration(s.steps.Load())
}

// maxBackward is the largest step backward. Real clients use clocks that are never set back. Such a clock may pause,
// but only within the permitted difference between clocks. The shortest permits last half a second.
const maxBackward = 3 * time.Millisecond

// Step steps the clock of one client: forward, as if its machine had been suspended, or slightly backward. It returns
// the client and the step.
func (c *Clients) Step(random *rand.Rand) (name string, step time.Duration) {
	i := random.IntN(len(c.clocks))
	switch random.IntN(3) {
	case 0:
		step = time.Duration(random.Int64N(int64(50 * time.Millisecond)))
	case 1:
		step = time.Duration(random.Int64N(int64(5 * time.Second)))
	default:
		step = -time.Duration(random.Int64N(int64(maxBackward)))
	}
	c.clocks[i].steps.Add(int64(step))
	return libraryName(i), step
}
