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
			o.leave(ctx, s)
			o.restore(ctx, s, version)
		},
		func(ctx context.Context) {
			o.move(ctx, s, home, away)
			pause(ctx, time.Second) // by then, every worker in the other group has requested a permit again
			o.leave(ctx, s)
			o.move(ctx, s, away, home)
		},
		func(ctx context.Context) {
			acquirers := cordoned()[o.random.IntN(2)]
			o.cordon(ctx, s, acquirers)
			o.leave(ctx, s)
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
	asked := &gatekeeperv1.MoveRequest{Selector: only(s), FromGroup: from, ToGroup: to, DryRun: true, Author: o.Client(), Drain: o.drain(true)}
	planning, cancel := context.WithTimeout(ctx, time.Second)
	plan, err := o.any().operator.Move(planning, asked)
	cancel()
	if err != nil || len(plan.GetMoves()) != 1 || plan.GetMoves()[0].GetVersion() != version {
		return // the server did not respond, or an edit excludes the group
	}
	o.edits++
	moved := *def
	moved.GroupPattern = plan.GetMoves()[0].GetGroupPattern()
	asked.DryRun, asked.Expected, asked.RequestId = false, plan.GetDigest(), fmt.Sprintf("%s-edit-%d", o.Client(), o.edits)
	r := history.Request{
		Kind: history.Edit, Semaphore: s.Name, Definition: &moved, ExpectedVersion: version, RequestID: asked.GetRequestId(),
		Drain: asked.GetDrain() != nil, Move: true,
	}
	for range 10 {
		err := o.act(ctx, r, func(ctx context.Context, on stubs) (uint64, error) {
			made, err := on.operator.Move(ctx, asked)
			return made.GetChange(), err
		})
		if err == nil || ctx.Err() != nil || status.Code(err) != codes.Unavailable && outcome(err) == history.Refused {
			return
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// cordoned returns acquirer patterns for cordons. Each matches every other worker process.
func cordoned() []string { return []string{"worker-[02468]", "worker-[13579]"} }

func cordonOf(s Semaphore, acquirers string) history.Request {
	return history.Request{CordonID: s.Name + " " + acquirers, Acquirers: acquirers}
}

func (o *operator) cordon(ctx context.Context, s Semaphore, acquirers string) {
	r, drain := cordonOf(s, acquirers), o.drain(true)
	r.Kind, r.Drain = history.Cordon, drain != nil
	_ = o.act(ctx, r, func(ctx context.Context, on stubs) (uint64, error) {
		_, err := on.operator.Cordon(ctx, &gatekeeperv1.CordonRequest{
			Id: r.CordonID, AcquirerPattern: acquirers, Drain: drain, Author: o.Client(), Reason: "proof",
		})
		return 0, err
	})
}

func (o *operator) uncordon(ctx context.Context, s Semaphore, acquirers string) error {
	r := cordonOf(s, acquirers)
	r.Kind = history.Uncordon
	return o.act(ctx, r, func(ctx context.Context, on stubs) (uint64, error) {
		answer, err := on.operator.Uncordon(ctx, &gatekeeperv1.UncordonRequest{Id: r.CordonID, Author: o.Client()})
		return answer.GetRevision(), err
	})
}

// open removes everything that excludes workers from a semaphore, and reports whether that succeeded.
func (o *operator) open(ctx context.Context, s Semaphore) bool {
	ok := o.resume(ctx, s) == nil
	for _, acquirers := range cordoned() {
		err := o.uncordon(ctx, s, acquirers)
		ok = ok && (err == nil || status.Code(err) == codes.NotFound)
	}
	return o.restore(ctx, s, 0) && ok
}

// Open removes everything that operators left in place on the semaphores with tasks, so that every task can finish. The
// operators must have stopped.
func (c *Clients) Open(ctx context.Context) error {
	for _, s := range worked(c.opts.Work) {
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

// holding returns a random live permit of a semaphore, as listed by a server. It returns nil if there is none, or if
// the server does not respond.
func holding(ctx context.Context, on stubs, s Semaphore, random *rand.Rand) *gatekeeperv1.Permit {
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	answer, err := on.permits.ListHolders(call, &gatekeeperv1.ListHoldersRequest{
		Names: []string{s.Name}, States: []gatekeeperv1.PermitState{gatekeeperv1.PermitState_PERMIT_STATE_LIVE},
	})
	if err != nil || len(answer.GetPermits()) == 0 {
		return nil
	}
	return answer.GetPermits()[random.IntN(len(answer.GetPermits()))]
}
