package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/snapshots"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// stage holds the results for one server at a fraction of the full size.
type stage struct {
	Part float64 `json:"part"`
	amounts
	// Definition and Permit are the memory usage per object added in this stage.
	Definition memory `json:"definition"`
	Permit     memory `json:"permit"`
	// Stream is the memory usage per client stream. Only InUse is meaningful, because small changes do not show in the
	// resident size of a large process.
	Stream memory `json:"stream"`
	// Filled is the memory usage of the whole server. Restarted is its memory usage after it was killed and restarted.
	Filled    memory           `json:"filled"`
	Restarted memory           `json:"restarted"`
	FillRate  float64          `json:"permits_per_second"`
	Costs     costs            `json:"costs"`
	Snapshot  *snapshots.Delay `json:"snapshot,omitempty"`
	Restart   restart          `json:"restart"`
}

// restart holds the results of restarting a killed server.
type restart struct {
	// Seconds is the time from the start of the process to the first grant. About half of it is the election.
	Seconds float64 `json:"seconds"`
	// Entries is the number of log entries that the server had to apply after its snapshot.
	Entries uint64 `json:"entries_behind_snapshot"`
}

// measureFull fills one server in stages, and then expands it to a cluster of three.
func (s *scale) measureFull(ctx context.Context, r *report) error {
	cluster, err := s.start(ctx, "full", 1, "")
	if err != nil {
		return err
	}
	defer cluster.Kill()
	server := cluster.Servers[0]
	f, err := newFleet(ctx, server.API, concurrentCallers)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.grant(ctx, s.callers, concurrentCallers, 0); err != nil { // there must be permits to refresh
		return err
	}
	if r.Empty, err = s.measureCosts(ctx, server, f); err != nil {
		return err
	}
	for _, part := range parts() {
		st, err := s.measureStage(ctx, server, f, part)
		if err != nil {
			return fmt.Errorf("at %.0f%%: %w\n%s", 100*part, err, server.LogTail())
		}
		r.Stages = append(r.Stages, *st)
	}
	s.logf("three full servers")
	return s.measureThreeServers(ctx, cluster, f, r)
}

func (s *scale) measureStage(ctx context.Context, server *servers.Server, f *fleet, part float64) (*stage, error) {
	st := &stage{Part: part, amounts: s.full.scaled(part)}
	if err := s.fill(ctx, server, f, st); err != nil {
		return nil, err
	}
	s.logf("  %d definitions, %d permits, at %.0f per second: %.0f bytes per definition, %.0f per permit, in use; %.0f MB resident",
		st.Definitions, st.Permits, st.FillRate, st.Definition.InUse, st.Permit.InUse, st.Filled.Resident/1e6)
	if err := s.measureWithClients(ctx, server, f, st); err != nil {
		return nil, err
	}
	if s.snapshots {
		var err error
		if st.Snapshot, err = measureSnapshot(ctx, server, f); err != nil {
			return nil, err
		}
		s.logf("  snapshot of %.0f MB in %.1f s; longest grant %.1f ms, before the snapshot %.1f ms", st.Snapshot.Bytes/1e6, st.Snapshot.Seconds,
			st.Snapshot.LongestDuring, st.Snapshot.LongestBefore)
	}
	if err := s.measureRestart(ctx, server, f, st); err != nil {
		return nil, fmt.Errorf("restart: %w", err)
	}
	s.logf("  restarted in %.1f s, %d entries after the snapshot; %.0f MB resident", st.Restart.Seconds, st.Restart.Entries, st.Restarted.Resident/1e6)
	return st, nil
}

// fill creates the missing definitions and then the missing permits. It measures memory usage before and after each
// step.
func (s *scale) fill(ctx context.Context, server *servers.Server, f *fleet, st *stage) error {
	previous := f.created
	before, err := measureMemory(ctx, server)
	if err != nil {
		return err
	}
	if err := f.define(ctx, st.Definitions); err != nil {
		return err
	}
	defined, err := measureMemory(ctx, server)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := f.grant(ctx, s.callers, max(st.Permits, previous.Permits), max(st.Definitions-previous.Definitions, 1)); err != nil {
		return err
	}
	added := f.created.Permits - previous.Permits
	st.FillRate = float64(added) / time.Since(start).Seconds()
	if st.Filled, err = measureMemory(ctx, server); err != nil {
		return err
	}
	st.Definition = defined.perObject(before, f.created.Definitions-previous.Definitions)
	st.Permit = st.Filled.perObject(defined, added)
	return nil
}

// measureWithClients opens client streams that keep permits alive, and measures the memory usage per stream and the
// costs.
func (s *scale) measureWithClients(ctx context.Context, server *servers.Server, f *fleet, st *stage) error {
	before, err := measureMemory(ctx, server)
	if err != nil {
		return err
	}
	c, err := s.openAll(ctx, server, f, st.Clients)
	if err != nil {
		return err
	}
	defer c.close()
	now, err := measureMemory(ctx, server)
	if err != nil {
		return err
	}
	st.Stream = now.perObject(before, c.count)
	st.Costs, err = s.measureCosts(ctx, server, f)
	return err
}

// measureRestart kills and restarts the server, and then requests a permit until it is granted.
func (s *scale) measureRestart(ctx context.Context, server *servers.Server, f *fleet, st *stage) error {
	snapshotIndex, err := newestSnapshot(server)
	if err != nil {
		return err
	}
	prober, err := newProber(server.API)
	if err != nil {
		return err
	}
	defer prober.close()
	server.Kill()
	start := time.Now()
	if err := server.Start(); err != nil {
		return err
	}
	at, err := prober.firstGrant(ctx, func() error {
		if !server.Running() {
			return fmt.Errorf("%s exited during startup", server.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	st.Restart.Seconds = at.Sub(start).Seconds()
	status, err := server.Status(ctx)
	if err != nil {
		return err
	}
	st.Restart.Entries = status.GetAppliedIndex() - min(snapshotIndex, status.GetAppliedIndex())
	if got := int(status.GetPermits()); got < f.created.Permits {
		return fmt.Errorf("the server has %d permits after the restart, but %d were granted", got, f.created.Permits)
	}
	st.Restarted, err = measureMemory(ctx, server)
	return err
}
