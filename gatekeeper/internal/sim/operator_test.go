package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The semaphores in every seed. The model covers all of them except timedSem and sharesSem. Moves, pauses and temporary
// edits are limited to those two, for which the other checks are sufficient. Cordons apply to all semaphores, but are
// not recorded, so the model ignores them.
const (
	singleSem   = "single"   // one permit, edited in every way
	severalSem  = "several"  // three permits, taken by weight
	lockstepSem = "lockstep" // one permit, never edited, with a short duration: the most sensitive to timing
	firesSem    = "fires"    // firings that are each claimed once
	handoverSem = "handed"   // firings that are handed over after a loss, with at most three attempts each
	takeoverSem = "judged"   // firings that are handed over only after a caller has declared the holder dead
	slackSem    = "slack"    // cools after each hold; permits are held for an operator after a loss
	timedSem    = "timed"    // pauses and edits that end automatically
	sharesSem   = "shares"   // permits that carry tasks
	restingSem  = "resting"  // also carries tasks; cools after each task, and for longer after a loss
	guardedSem  = "guarded"  // also carries tasks, each for a limited time; permits are held for an operator after a loss
	ownersSem   = "owners"   // permits that keep jobs from being cancelled
)

func semaphores() []string {
	return []string{singleSem, severalSem, lockstepSem, firesSem, handoverSem, takeoverSem, slackSem, timedSem}
}

// taskSemaphores returns the semaphores whose permits carry tasks.
func taskSemaphores() []string { return []string{sharesSem, restingSem, guardedSem} }

func modelled(name string) bool { return name != timedSem && name != sharesSem }

func definition(name string) *gatekeeperv1.Definition {
	d := &gatekeeperv1.Definition{Name: name, Permits: proto.Uint32(1), Duration: durationpb.New(time.Second)}
	switch name {
	case singleSem:
		d.Duration = durationpb.New(2 * time.Second)
	case severalSem:
		d.Permits = proto.Uint32(3)
	case lockstepSem:
		d.Duration = durationpb.New(400 * time.Millisecond)
	case firesSem:
		d.Permits = proto.Uint32(2)
	case handoverSem:
		d.Permits, d.FiringOnLoss, d.MaxAttempts = proto.Uint32(2), gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE, 3
		d.Duration = durationpb.New(600 * time.Millisecond)
	case takeoverSem:
		d.Permits, d.Duration = proto.Uint32(2), durationpb.New(600*time.Millisecond)
	case slackSem:
		d.Permits, d.MinHold, d.LossDelay = proto.Uint32(2), durationpb.New(500*time.Millisecond), durationpb.New(700*time.Millisecond)
		d.OnExpiry = gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD
	case timedSem:
		d.Permits, d.MaxHold, d.GroupPattern = proto.Uint32(2), durationpb.New(3*time.Second), proto.String("prod")
	case sharesSem:
		d.Permits, d.Duration, d.GroupPattern = proto.Uint32(4), durationpb.New(600*time.Millisecond), proto.String("prod")
	case restingSem:
		d.Permits, d.Duration = proto.Uint32(3), durationpb.New(600*time.Millisecond)
		d.MinHold, d.LossDelay = durationpb.New(300*time.Millisecond), durationpb.New(700*time.Millisecond)
	case guardedSem:
		d.Permits, d.Duration, d.MaxHold = proto.Uint32(3), durationpb.New(600*time.Millisecond), durationpb.New(1200*time.Millisecond)
		d.OnExpiry = gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD
	case ownersSem:
		d.Permits = proto.Uint32(50)
	}
	d.Takeover = allowsTakeover(name)
	return d
}

// allowsTakeover reports whether callers may take over the named semaphore's permits.
func allowsTakeover(name string) bool {
	return name == singleSem || name == handoverSem || name == takeoverSem
}

// historyDefinition returns a definition as recorded in the history.
func historyDefinition(d *gatekeeperv1.Definition) *history.Definition {
	return &history.Definition{
		GroupPattern: d.GetGroupPattern(), AcquirerPattern: d.GetAcquirerPattern(), Permits: d.GetPermits(), Duration: d.GetDuration().AsDuration(),
		MinHold: d.GetMinHold().AsDuration(), LossDelay: d.GetLossDelay().AsDuration(),
		HoldOnExpiry: d.GetOnExpiry() == gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD,
		FreeOnLoss:   d.GetFiringOnLoss() == gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_FREE,
		Takeover:     d.GetTakeover(), MaxAttempts: d.GetMaxAttempts(),
	}
}

// operator makes the changes that an operator would make with gkctl.
type operator struct {
	*process
	rng *rand.Rand
}

// create creates the definitions.
func (o *operator) create() {
	for _, name := range slices.Concat(semaphores(), taskSemaphores(), []string{ownersSem}) {
		o.edit(name, 0, definition(name), 0, 0)
	}
}

// edit creates or replaces a definition, or deletes it if d is nil.
func (o *operator) edit(name string, version uint64, d *gatekeeperv1.Definition, drain, lifetime time.Duration) {
	e := &gatekeeperv1.Edit{ExpectedVersion: version}
	r := history.Request{Kind: history.Edit, Semaphore: name, RequestID: fmt.Sprintf("e%x", o.rng.Uint64()), ExpectedVersion: version, Drain: drain > 0}
	switch {
	case d == nil:
		e.Change = &gatekeeperv1.Edit_Delete{Delete: name}
	case version == 0:
		e.Change, r.Definition = &gatekeeperv1.Edit_Create{Create: d}, historyDefinition(d)
	default:
		e.Change, r.Definition = &gatekeeperv1.Edit_Replace{Replace: d}, historyDefinition(d)
	}
	req := &gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{e}, Author: "ops", RequestId: r.RequestID}
	if drain > 0 {
		req.Drain = durationpb.New(drain)
	}
	if lifetime > 0 {
		req.End = &gatekeeperv1.BatchEditRequest_Duration{Duration: durationpb.New(lifetime)}
	}
	complete := o.record.Call(r)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	a, err := o.client.Definitions().BatchEdit(ctx, req)
	if err != nil {
		complete(outcome(err), history.Response{}, err)
		return
	}
	complete(history.Known, history.Response{Result: history.Done, Revision: a.GetRevision()}, nil)
}

// work makes random changes until end is closed.
func (o *operator) work(end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		case <-time.After(between(o.rng, 200*time.Millisecond, 4*time.Second)):
		}
		o.step()
	}
}

func (o *operator) step() {
	drain := time.Duration(0)
	if o.rng.IntN(2) == 0 {
		drain = between(o.rng, 100*time.Millisecond, 3*time.Second)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	switch o.rng.IntN(12) {
	case 0, 1, 2:
		o.change(ctx, singleSem, drain)
	case 3:
		o.change(ctx, severalSem, drain)
	case 4:
		o.change(ctx, timedSem, drain)
	case 5:
		o.pause(ctx, drain)
	case 6:
		o.cordon(ctx, drain)
	case 7, 8:
		o.revoke(ctx, drain)
	case 9, 10:
		o.clear(ctx)
	case 11:
		o.move(ctx, drain)
	}
}

// change replaces a definition, or deletes it and creates it again.
func (o *operator) change(ctx context.Context, name string, drain time.Duration) {
	got, err := o.client.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: name})
	if err != nil {
		o.edit(name, 0, definition(name), 0, 0) // it may have been deleted
		return
	}
	d, lifetime := got.GetRecord().GetDefinition(), time.Duration(0)
	if name == timedSem && o.rng.IntN(2) == 0 {
		lifetime = between(o.rng, 500*time.Millisecond, 4*time.Second)
	}
	switch o.rng.IntN(6) {
	case 0, 1, 2:
		d.Duration = durationpb.New([]time.Duration{300 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second}[o.rng.IntN(4)])
	case 3:
		d.Permits = proto.Uint32(uint32(o.rng.IntN(4)))
	case 4:
		if name != timedSem { // moves change its group pattern
			d.GroupPattern = proto.String([]string{".*", "prod", "dr", "nobody"}[o.rng.IntN(4)])
		}
	case 5:
		if lifetime == 0 {
			d = nil
		}
	}
	o.edit(name, got.GetRecord().GetVersion(), d, drain, lifetime)
}

func (o *operator) pause(ctx context.Context, drain time.Duration) {
	req := &gatekeeperv1.PauseRequest{Selector: &gatekeeperv1.Selector{Names: []string{timedSem, sharesSem}}, Reason: "sim", Author: "ops", Stop: drain > 0}
	req.End = &gatekeeperv1.PauseRequest_Duration{Duration: durationpb.New(between(o.rng, 500*time.Millisecond, 5*time.Second))}
	if drain > 0 {
		req.Drain = durationpb.New(drain)
	}
	_, _ = o.client.Operator().Pause(ctx, req) // may fail because the semaphore is deleted or the servers are unavailable
}

// cordon excludes a machine temporarily.
func (o *operator) cordon(ctx context.Context, drain time.Duration) {
	req := &gatekeeperv1.CordonRequest{AcquirerPattern: machine(o.rng.IntN(machines)), Reason: "sim", Author: "ops"}
	req.End = &gatekeeperv1.CordonRequest_Duration{Duration: durationpb.New(between(o.rng, 500*time.Millisecond, 5*time.Second))}
	if drain > 0 {
		req.Drain = durationpb.New(drain)
	}
	_, _ = o.client.Operator().Cordon(ctx, req) // the servers may be unavailable
}

// holders returns the permits held for the named semaphores.
func (o *operator) holders(ctx context.Context, names ...string) []*gatekeeperv1.Permit {
	r, err := o.client.Permits().ListHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: names})
	if err != nil {
		return nil
	}
	return r.GetPermits()
}

func (o *operator) revoke(ctx context.Context, drain time.Duration) {
	held := o.holders(ctx, singleSem, severalSem, lockstepSem, firesSem, handoverSem, takeoverSem, timedSem)
	if len(held) == 0 {
		return
	}
	p := held[o.rng.IntN(len(held))]
	complete := o.record.Call(history.Request{Kind: history.Revoke, Semaphore: p.GetSemaphore(), Token: p.GetToken(), Drain: drain > 0})
	req := &gatekeeperv1.RevokeRequest{Token: p.GetToken(), Author: "ops", Reason: "sim"}
	if drain > 0 {
		req.Drain = durationpb.New(drain)
	}
	_, err := o.client.Permits().Revoke(ctx, req)
	if err != nil {
		complete(outcome(err), history.Response{}, err)
		return
	}
	complete(history.Known, history.Response{Result: history.Done}, nil)
}

// clear frees permits that are held for an operator.
func (o *operator) clear(ctx context.Context) {
	for _, p := range o.holders(ctx, slackSem, guardedSem) {
		if p.GetState() != gatekeeperv1.PermitState_PERMIT_STATE_HELD {
			continue
		}
		complete := o.record.Call(history.Request{Kind: history.Clear, Semaphore: p.GetSemaphore(), Token: p.GetToken()})
		_, err := o.client.Permits().Clear(ctx, &gatekeeperv1.ClearRequest{Token: p.GetToken(), Author: "ops", Reason: "sim"})
		if err != nil {
			complete(outcome(err), history.Response{}, err)
			continue
		}
		complete(history.Known, history.Response{Result: history.Done}, nil)
	}
}

// move moves semaphores from one group to the other.
func (o *operator) move(ctx context.Context, drain time.Duration) {
	groups := []string{"prod", "dr"}
	from := o.rng.IntN(2)
	req := &gatekeeperv1.MoveRequest{
		FromGroup: groups[from], ToGroup: groups[1-from], Selector: &gatekeeperv1.Selector{Names: []string{timedSem, sharesSem}}, Author: "ops", DryRun: true,
	}
	if drain > 0 {
		req.Drain = durationpb.New(drain)
	}
	planned, err := o.client.Operator().Move(ctx, req)
	if err != nil || len(planned.GetMoves()) == 0 {
		return
	}
	req.DryRun, req.Expected, req.RequestId = false, planned.GetDigest(), fmt.Sprintf("m%x", o.rng.Uint64())
	if made, err := o.client.Operator().Move(ctx, req); err == nil && made.GetChange() > 0 {
		o.world.paths.inc(moved)
	}
}
