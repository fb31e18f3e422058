package gatekeeper

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// leaderTasks notifies the keeper when this server starts and stops leading, and runs a new leader's tasks: it declares
// this server's configured definitions (other servers may have different ones), and raises the feature level.
type leaderTasks struct {
	keeper      *keeper.Keeper
	state       func() *fsm.State
	log         *slog.Logger
	definitions []*semaphore.Definition
	// level returns the newest feature level that every member supports. propose appends a command to the log.
	level   func() uint32
	propose func(fsm.Command, func(batcher.Outcome))
	clocks  *clocks
	audit   *audit.Log // nil if off
	// id is this member's id. admin is the subject of the first administrator. It is empty if callers are not
	// authenticated.
	id, admin string
	wg        sync.WaitGroup
	// declared is set once the definitions have been declared or found invalid.
	declared atomic.Bool
}

var _ consensus.LeadershipObserver = (*leaderTasks)(nil)

func (l *leaderTasks) Promote(term uint64, done <-chan struct{}) {
	l.raiseNow(done) // so that even the first call can use every feature that a new single-server cluster supports
	l.keeper.Promote(term, done)
	ctx, cancel := context.WithCancel(context.Background())
	l.wg.Go(func() { <-done; cancel() })
	l.wg.Go(func() { l.raise(done) })
	l.wg.Go(func() { l.clocks.watch(ctx, term) })
	if l.admin != "" {
		l.wg.Go(func() { l.bindFirstAdmin(done) })
	}
	if remaining, recovering := l.keeper.Recovering(); recovering {
		l.wg.Go(func() { l.logQuarantine(remaining, done) })
	}
	if len(l.definitions) == 0 {
		return
	}
	l.wg.Go(func() {
		l.declare(ctx)
		if ctx.Err() == nil {
			l.declared.Store(true)
		}
	})
}

// quarantineCheckInterval is how often a leader checks whether the quarantine after a recovery has ended.
const quarantineCheckInterval = 100 * time.Millisecond

// logQuarantine logs that no permits are being granted during the quarantine after a recovery, and later that grants
// have resumed.
func (l *leaderTasks) logQuarantine(remaining time.Duration, done <-chan struct{}) {
	l.log.Warn("this cluster was recovered without its majority: no permits are being granted until every earlier permit has certainly ended; "+
		"definitions can be edited in the meantime", slog.Duration("wait", remaining))
	tick := time.NewTicker(quarantineCheckInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-done:
			return
		}
		if _, recovering := l.keeper.Recovering(); !recovering {
			l.log.Info("every permit from before the recovery has ended: granting permits again")
			return
		}
	}
}

// raiseInterval is how often a leader checks whether every member supports a newer feature level.
const raiseInterval = 200 * time.Millisecond

// raise enables newer commands once every member supports them. It returns when the cluster is at the newest level that
// this server supports.
func (l *leaderTasks) raise(done <-chan struct{}) {
	tick := time.NewTicker(raiseInterval)
	defer tick.Stop()
	for l.state().FeatureLevel() < fsm.SupportedLevel {
		select {
		case <-tick.C:
			l.raiseNow(done)
		case <-done:
			return
		}
	}
}

// raiseWait bounds how long a new leader delays its first call while the feature level is being raised, which can take
// a long time if, for example, a majority of the members have stalled disks.
const raiseWait = time.Second

// raiseNow raises the feature level to the newest one that every member supports at this moment. It waits for the
// outcome, but no longer than raiseWait.
func (l *leaderTasks) raiseNow(done <-chan struct{}) {
	level := l.level()
	if level <= l.state().FeatureLevel() {
		return
	}
	settled := make(chan struct{})
	l.propose(fsm.RaiseFeatureLevel{Level: level}, func(o batcher.Outcome) {
		if r, ok := o.Result.(fsm.RevisionResult); ok && r.Applied {
			l.log.Info("raised the feature level to the newest one that every server supports", slog.Uint64("level", uint64(level)))
		}
		close(settled)
	})
	select {
	case <-settled:
	case <-done:
	case <-time.After(raiseWait):
	}
}

// bindFirstAdmin creates the cluster's first administrator once the feature level allows it.
func (l *leaderTasks) bindFirstAdmin(done <-chan struct{}) {
	tick := time.NewTicker(raiseInterval)
	defer tick.Stop()
	var proposed atomic.Bool // whether a proposal is in flight
	for l.state().AccessRevision() == 0 {
		first := fsm.SetBinding{
			Name: "admin", Binding: &access.Binding{Subjects: []string{l.admin}, Grants: []access.Grant{{Role: access.Admin}}}, First: true,
			Author: l.id, Reason: "the cluster's first administrator, from the configuration of member " + l.id, At: time.Now(),
		}
		if l.state().FeatureLevel() >= fsm.Level(first) && !proposed.Swap(true) {
			l.propose(first, func(o batcher.Outcome) {
				proposed.Store(false)
				if r, ok := o.Result.(fsm.AccessResult); ok && r.Outcome == fsm.AccessApplied {
					l.log.Info("the cluster has its first administrator", slog.String("subject", l.admin))
					l.audit.Write(audit.Record{
						Subjects: []string{"member:" + l.id}, Method: gatekeeperv1.AuthService_SetBinding_FullMethodName, Decision: audit.Allowed,
						About: []string{first.Name, l.admin},
					})
				}
			})
		}
		select {
		case <-tick.C:
		case <-done:
			return
		}
	}
}

// ready returns an error while a cluster that authenticates callers has no administrator, or while this server leads
// and has not yet declared its configured definitions, because clients would get "no such semaphore". A follower does
// not wait for declarations, since the leader may have different definitions.
func (l *leaderTasks) ready(leads bool) error {
	// An established cluster remains usable while a member is too old to support bindings.
	if l.admin != "" && l.state().AccessRevision() == 0 && (l.state().FeatureLevel() >= fsm.AccessLevel || l.state().Revision() == 0) {
		return errors.New("the cluster has no administrator yet")
	}
	if len(l.definitions) > 0 && leads && !l.declared.Load() {
		return errors.New("still declaring the configured definitions")
	}
	return nil
}

// member is a node that is ready only once its leader tasks are ready too.
type member struct {
	*consensus.Node
	leaderTasks *leaderTasks
}

// Ready returns nil if this server can serve calls.
func (m member) Ready() error {
	if err := m.Node.Ready(); err != nil {
		return err
	}
	return m.leaderTasks.ready(m.leaderTasks.keeper.Leads())
}

func (l *leaderTasks) Demote(term uint64) {
	l.keeper.Demote(term)
	l.wg.Wait() // the tasks stop when leadership ends
}
