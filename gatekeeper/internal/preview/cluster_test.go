package preview

import (
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

type cluster struct{ *statetest.Cluster }

func newCluster(t *testing.T) *cluster { return &cluster{statetest.New(t)} }

// tickingLeader is a leader that reports less time to stop on every call, as if time passed between the calls.
type tickingLeader struct {
	statetest.Patterns
	calls int
}

func (h *tickingLeader) TimeToStop(p *semaphore.Permit, s semaphore.Stop) time.Duration {
	h.calls++
	return h.Patterns.TimeToStop(p, s) - time.Duration(h.calls)
}
