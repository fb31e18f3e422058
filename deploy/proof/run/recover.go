package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/fault"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// awaitRecovery waits until every member is ready and clients are granted permits again.
func awaitRecovery(ctx context.Context, a *fault.Arena, log *history.Log) error {
	ctx, cancel := context.WithTimeout(ctx, recoverTimeout)
	defer cancel()
	repairedAt := boottime.Now()
	for _, s := range a.Members() {
		if err := s.Ready(ctx); err != nil {
			return fmt.Errorf("%s is not ready %v after the last fault: %w", s.ID, recoverTimeout, err)
		}
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if n := grantsSince(log.Entries(), repairedAt); n >= 20 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("fewer than 20 permits were granted in %v after the last fault", recoverTimeout)
		}
	}
}

// grantsSince counts the grants for calls made after a given time.
func grantsSince(entries []history.Entry, at time.Duration) int {
	type call struct {
		client string
		seq    int64
	}
	made := map[call]bool{}
	var n int
	for _, e := range entries {
		switch {
		case e.Call != nil && e.Call.At > at:
			made[call{e.Call.Client, e.Call.Seq}] = true
		case e.Return != nil && e.Return.Response.Result == history.Granted && made[call{e.Return.Client, e.Return.Seq}]:
			n++
		}
	}
	return n
}

// ensureCoverage ensures that every run includes successful takeovers and the loss of a worker with a task.
func ensureCoverage(ctx context.Context, a *fault.Arena, disruptions map[string]int) error {
	ctx, cancel := context.WithTimeout(ctx, recoverTimeout)
	defer cancel()
	if err := a.Clients.TakeOver(ctx); err != nil {
		return err
	}
	if disruptions[fault.KilledAtTask] > 0 {
		return nil
	}
	err := a.LoseWorker(ctx)
	if err == nil {
		disruptions[fault.KilledAtTask]++
	}
	return err
}

// awaitJobs admits all workers and waits until every job has finished.
func awaitJobs(ctx context.Context, a *fault.Arena) error {
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	if err := a.Clients.Open(ctx); err != nil {
		return err
	}
	return a.Clients.AwaitJobs(ctx)
}

// awaitSettled reads every definition and every job, and then waits until all members report their state hash at the
// same index.
func awaitSettled(ctx context.Context, a *fault.Arena, log *history.Log) error {
	ctx, cancel := context.WithTimeout(ctx, recoverTimeout)
	defer cancel()
	if err := a.Clients.ReadAll(ctx); err != nil {
		return err
	}
	if err := a.Clients.ReadJobs(ctx, log.Entries()); err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		states, err := queryStates(ctx, a.Members(), log.Put)
		if err == nil && sameIndex(states) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the members did not reach the same index within %v: %w", recoverTimeout, cmp.Or(err, fmt.Errorf("%v", states)))
		}
	}
}

func sameIndex(states []history.State) bool {
	for _, s := range states {
		if s.Index != states[0].Index {
			return false
		}
	}
	return true
}

// queryStates requests the members' state hashes. It fails if a member does not respond.
func queryStates(ctx context.Context, members []*servers.Server, put func(history.Entry)) ([]history.State, error) {
	var states []history.State
	var failed error
	for _, s := range members {
		if !s.Running() {
			failed = fmt.Errorf("%s is not running", s.ID)
			continue
		}
		conn, err := s.Conn()
		if err != nil {
			return nil, err
		}
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		status, err := gatekeeperv1.NewClusterServiceClient(conn).GetStatus(callCtx, &gatekeeperv1.GetStatusRequest{StateHash: true})
		cancel()
		if err != nil {
			failed = err
			continue
		}
		state := history.State{Member: s.ID, Index: status.StateHashIndex, Hash: status.StateHash}
		put(history.Entry{State: &state})
		states = append(states, state)
	}
	return states, failed
}

// watchStates requests the hashes repeatedly, because two members may be at the same index even during the run.
func watchStates(ctx context.Context, a *fault.Arena, put func(history.Entry)) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, _ = queryStates(ctx, a.Members(), put) // during faults some members do not respond
		case <-ctx.Done():
			return
		}
	}
}

// highestTerm returns the highest term that any member reports.
func highestTerm(ctx context.Context, a *fault.Arena) uint64 {
	var term uint64
	for _, s := range a.Members() {
		if status, err := s.Status(ctx); err == nil {
			term = max(term, status.Term)
		}
	}
	return term
}
