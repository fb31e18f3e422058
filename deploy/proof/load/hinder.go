package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// exclusions returns the operator's actions that temporarily exclude workers from a semaphore.
func (o *operator) exclusions(s Semaphore) []func(context.Context) {
	return []func(context.Context){
		func(ctx context.Context) { o.pause(ctx, s) },
		func(ctx context.Context) {
			version := o.edit(ctx, s, 0)
			o.dwell(ctx, s)
			o.restore(ctx, s, version)
		},
		func(ctx context.Context) {
			o.move(ctx, s, home, away)
			pause(ctx, time.Second) // lets every worker in the other group request a permit again
			o.dwell(ctx, s)
			o.move(ctx, s, away, home)
		},
		func(ctx context.Context) {
			acquirers := cordonPatterns()[o.random.IntN(2)]
			o.cordon(ctx, s, acquirers)
			o.dwell(ctx, s)
			_ = o.uncordon(ctx, s, acquirers)
		},
	}
}

// restore restores the definition. version is 0 if the current version is unknown.
func (o *operator) restore(ctx context.Context, s Semaphore, version uint64) (done bool) {
	if version == 0 {
		version, _ = o.read(ctx, s.Name)
	}
	return version != 0 && o.replace(ctx, s.Name, s.Definition, version) != 0
}

// move plans the move of a semaphore to another group, and executes the plan unless the definition was edited in the
// meantime. The history records the move as an edit.
func (o *operator) move(ctx context.Context, s Semaphore, from, to string) {
	version, def := o.read(ctx, s.Name)
	if version == 0 {
		return
	}
	req := &gatekeeperv1.MoveRequest{Selector: only(s), FromGroup: from, ToGroup: to, DryRun: true, Author: o.Client(), Drain: o.drain(true)}
	planCtx, cancel := context.WithTimeout(ctx, time.Second)
	plan, err := o.randomServer().operator.Move(planCtx, req)
	cancel()
	if err != nil || len(plan.GetMoves()) != 1 || plan.GetMoves()[0].GetVersion() != version {
		return // the server did not respond, or an edit excludes the group
	}
	o.edits++
	moved := *def
	moved.GroupPattern = plan.GetMoves()[0].GetGroupPattern()
	req.DryRun, req.Expected, req.RequestId = false, plan.GetDigest(), fmt.Sprintf("%s-edit-%d", o.Client(), o.edits)
	r := history.Request{
		Kind: history.Edit, Semaphore: s.Name, Definition: &moved, ExpectedVersion: version, RequestID: req.GetRequestId(),
		Drain: req.GetDrain() != nil, Move: true,
	}
	for range 10 {
		err := o.perform(ctx, r, func(ctx context.Context, on stubs) (uint64, error) {
			resp, err := on.operator.Move(ctx, req)
			return resp.GetChange(), err
		})
		if err == nil || ctx.Err() != nil || status.Code(err) != codes.Unavailable && outcome(err) == history.Refused {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// cordonPatterns returns acquirer patterns for cordons. Each matches half of the worker processes.
func cordonPatterns() []string { return []string{"worker-[02468]", "worker-[13579]"} }

func cordonRequest(s Semaphore, acquirers string) history.Request {
	return history.Request{CordonID: s.Name + " " + acquirers, Acquirers: acquirers}
}

func (o *operator) cordon(ctx context.Context, s Semaphore, acquirers string) {
	r, drain := cordonRequest(s, acquirers), o.drain(true)
	r.Kind, r.Drain = history.Cordon, drain != nil
	_ = o.perform(ctx, r, func(ctx context.Context, on stubs) (uint64, error) {
		_, err := on.operator.Cordon(ctx, &gatekeeperv1.CordonRequest{
			Id: r.CordonID, AcquirerPattern: acquirers, Drain: drain, Author: o.Client(), Reason: "proof",
		})
		return 0, err
	})
}

func (o *operator) uncordon(ctx context.Context, s Semaphore, acquirers string) error {
	r := cordonRequest(s, acquirers)
	r.Kind = history.Uncordon
	return o.perform(ctx, r, func(ctx context.Context, on stubs) (uint64, error) {
		resp, err := on.operator.Uncordon(ctx, &gatekeeperv1.UncordonRequest{Id: r.CordonID, Author: o.Client()})
		return resp.GetRevision(), err
	})
}

// open lifts all restrictions that exclude workers from a semaphore and reports whether it succeeded.
func (o *operator) open(ctx context.Context, s Semaphore) bool {
	ok := o.resume(ctx, s) == nil
	for _, acquirers := range cordonPatterns() {
		err := o.uncordon(ctx, s, acquirers)
		ok = ok && (err == nil || status.Code(err) == codes.NotFound)
	}
	return o.restore(ctx, s, 0) && ok
}

// Open lifts all restrictions that operators left in place on the semaphores with tasks, so that every task can finish.
// The operators must have stopped.
func (c *Clients) Open(ctx context.Context) error {
	for _, s := range withTasks(c.opts.Work) {
		for !c.operator.open(ctx, s) {
			if ctx.Err() != nil {
				return fmt.Errorf("cannot admit workers to %s: %w", s.Name, ctx.Err())
			}
			pause(ctx, 50*time.Millisecond)
		}
	}
	return nil
}

// TakeOver takes permits over from their holders until it has succeeded on one semaphore with tasks and on one without.
func (c *Clients) TakeOver(ctx context.Context) error {
	for _, world := range [][]Semaphore{c.opts.World, c.opts.Work} {
		for s := world[slices.IndexFunc(world, func(s Semaphore) bool { return s.Definition.Takeover })]; ; {
			if token, ok := c.operator.holder(ctx, s); ok && c.operator.takeOverFrom(ctx, s, token) == nil {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("no takeover on %s succeeded: %w", s.Name, ctx.Err())
			}
		}
	}
	return nil
}

// randomPermit returns a random live permit of a semaphore, as listed by a server. It returns nil if there is none, or
// if the server does not respond.
func randomPermit(ctx context.Context, on stubs, s Semaphore, random *rand.Rand) *gatekeeperv1.Permit {
	callCtx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	resp, err := on.permits.ListHolders(callCtx, &gatekeeperv1.ListHoldersRequest{
		Names: []string{s.Name}, States: []gatekeeperv1.PermitState{gatekeeperv1.PermitState_PERMIT_STATE_LIVE},
	})
	if err != nil || len(resp.GetPermits()) == 0 {
		return nil
	}
	return resp.GetPermits()[random.IntN(len(resp.GetPermits()))]
}
