package gatekeeper

import (
	"context"
	"math"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/dump"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/queue"
)

// dumpPeriodically writes the state to the server's log output every DumpInterval until the server closes.
func (s *Server) dumpPeriodically() {
	ticker := time.NewTicker(s.cfg.DumpInterval)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			dump.Write(context.Background(), s.log, s.view())
		}
	}
}

// view returns the state as this server sees it now.
func (s *Server) view() dump.View {
	waiting := make(map[string]int)
	all := func(string) bool { return true }
	for _, w := range s.keeper.Waiters(all, queue.Cursor{}, math.MaxInt) {
		if w.Place > 0 {
			waiting[w.Semaphore]++
		}
	}
	return dump.View{
		State:     s.machine.State(),
		Role:      s.node.Role().String(),
		Leader:    s.node.Leader().ID,
		Term:      s.node.Term(),
		Waiting:   waiting,
		Remaining: s.keeper.Remaining,
	}
}
