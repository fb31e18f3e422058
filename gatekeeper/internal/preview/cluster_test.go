package preview

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

type cluster struct{ *statetest.Cluster }

func newCluster(t *testing.T) *cluster { return &cluster{statetest.New(t)} }

// hurried is a leader for which time passes between calls, so that the time left shrinks with each call.
type hurried struct {
	statetest.Patterns
	answers int
}

func (h *hurried) StopLeft(p *semaphore.Permit, s semaphore.Stop) time.Duration {
	h.answers++
	return h.Patterns.StopLeft(p, s) - time.Duration(h.answers)
}
