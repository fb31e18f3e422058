package consensus

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// newRaft starts Raft on a separate goroutine, because a store call that fails never returns.
func (n *Node) newRaft() error {
	type outcome struct {
		raft *raft.Raft
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			switch r := recover(); {
			case r == raft.ErrLogNotFound: //nolint:errorlint // compares the value of a panic
				o.err = store.Damaged("the log", "entries are missing between the newest snapshot (or the beginning) and the first entry in the log")
			case r != nil:
				o.err = fmt.Errorf("start Raft: %v", r)
			}
			done <- o // even if a failed store call made this goroutine exit early
		}()
		o.raft, o.err = n.bootAndRun()
	}()
	var o outcome
	select {
	case o = <-done:
	case <-n.guard.Failed():
		n.guard.Release()
		select {
		case o = <-done:
		case <-time.After(time.Second): // the disk hangs: closing its files would hang too, and the hung call may still write
			closeStores := n.stores.close
			n.stores.close = func() error { return nil }
			n.cfg.DataDir.closeAfter(func() {
				if o := <-done; o.raft != nil {
					_ = o.raft.Shutdown().Error() // always nil
				}
				_ = closeStores() // no caller is left to handle the error
			})
		}
	}
	n.raft = o.raft
	return errors.Join(o.err, n.guard.Err())
}

func (n *Node) bootAndRun() (*raft.Raft, error) {
	s := n.stores
	cfg := n.raftConfig()
	hasState, err := raft.HasExistingState(s.log, s.stable, s.snapshots)
	if err != nil {
		return nil, err
	}
	dataDir := n.cfg.DataDir
	if !hasState && dataDir.hasBegun() {
		return nil, store.Damaged(store.RaftFile, "it contains no term, entries or snapshot, even though this member once had them")
	}
	if !hasState && !dataDir.file.Joiner {
		members, err := n.cfg.bootstrap(string(n.id), string(n.address))
		if err != nil {
			return nil, err
		}
		var set raft.Configuration
		for _, m := range members {
			set.Servers = append(set.Servers, raft.Server{ID: raft.ServerID(m.ID), Address: raft.ServerAddress(m.PeerAddress)})
		}
		if err := raft.BootstrapCluster(cfg, s.log, s.stable, s.snapshots, n.transport, set); err != nil {
			return nil, err
		}
		hasState = true
	}
	if hasState { // for a joiner, the replica calls begin
		if err := dataDir.begin(); err != nil {
			return nil, err
		}
	}
	r, err := raft.NewRaft(cfg, n.replica, s.log, s.stable, s.snapshots, n.transport)
	if err == nil {
		return r, nil
	}
	all, _ := s.snapshots.List() // if a snapshot can be listed, Raft failed to restore it
	if len(all) == 0 {
		return nil, err
	}
	what := fmt.Sprintf("the snapshot up to entry %d", all[0].Index)
	switch refused := n.replica.restoreErr; {
	case errors.Is(refused, fsm.ErrNewer) || errors.Is(refused, fsm.ErrForeign):
		return nil, fmt.Errorf("%s: %w", what, refused)
	case refused != nil:
		err = refused
	}
	return nil, store.Damaged(what, "%w: see the earlier errors in the log", err)
}

func (n *Node) raftConfig() *raft.Config {
	cfg := raft.DefaultConfig()
	cfg.LocalID = n.id
	cfg.HeartbeatTimeout = n.cfg.Timeouts.Heartbeat
	cfg.ElectionTimeout = n.cfg.Timeouts.Election
	// The lease plays no part in safety. A shorter one would only make the leader step down more often. Raft requires
	// it to be at most the heartbeat timeout, which checkLeader shortens by a nanosecond.
	cfg.LeaderLeaseTimeout = n.cfg.Timeouts.Heartbeat - time.Nanosecond
	cfg.MaxAppendEntries = 32 // up to 512 KiB each, and all within the transport's timeout
	cfg.ShutdownOnRemove = false
	cfg.SnapshotThreshold = n.cfg.SnapshotThreshold
	cfg.SnapshotInterval = n.cfg.SnapshotInterval
	cfg.TrailingLogs = n.cfg.TrailingLogs
	cfg.NoLegacyTelemetry = true
	cfg.Logger = raftLogger(n.cfg.Logger)
	return cfg
}
