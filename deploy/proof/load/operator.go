package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// operator edits and pauses semaphores, revokes permits and clears slots.
type operator struct {
	caller
	random  *rand.Rand
	servers *endpoints
	held    *heldTokens
	edits   int
}

func (o *operator) randomServer() stubs { return o.servers.randomServer(o.random) }

// run makes one change after another to a semaphore until the context is done. It makes only changes that the semaphore
// allows.
func (o *operator) run(ctx context.Context, s Semaphore) {
	changes := o.changes(s)
	for len(changes) > 0 && ctx.Err() == nil {
		changes[o.random.IntN(len(changes))](ctx)
		pause(ctx, time.Duration(100+o.random.IntN(300))*time.Millisecond)
	}
}

// changes returns the changes that an operator makes to a semaphore.
func (o *operator) changes(s Semaphore) []func(context.Context) {
	var version uint64
	revoke := func(ctx context.Context) {
		o.revoke(ctx, s)
		o.takeOver(ctx, s)
	}
	switch {
	case s.HasTasks:
		return append(o.exclusions(s), revoke)
	case s.Edited:
		return []func(context.Context){func(ctx context.Context) { version = o.edit(ctx, s, version) }}
	case s.Paused:
		return []func(context.Context){func(ctx context.Context) { o.pause(ctx, s) }}
	case s.Revoked:
		return []func(context.Context){revoke}
	case s.Definition.HoldOnExpiry:
		return []func(context.Context){func(ctx context.Context) { o.clear(ctx, s.Name) }}
	case s.FiringInterval > 0 && s.Definition.Takeover:
		return []func(context.Context){func(ctx context.Context) { o.takeOver(ctx, s) }}
	}
	return nil
}

// perform makes and records a call that returns Done on success, and returns its error.
func (o *operator) perform(ctx context.Context, r history.Request, do func(context.Context, stubs) (revision uint64, err error)) error {
	done := o.Call(r)
	callCtx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	revision, err := do(callCtx, o.randomServer())
	done(outcome(err), history.Response{Result: history.Done, Revision: revision}, err)
	return err
}

// edit replaces a definition with one that has different permits and patterns, and returns the new version. expected is
// the current version, or 0 if it is unknown.
func (o *operator) edit(ctx context.Context, s Semaphore, expected uint64) uint64 {
	def := s.Definition
	def.Permits = uint32(o.random.IntN(int(max(s.MaxPermits, s.Definition.Permits)) + 1))
	def.GroupPattern = []string{".*", "east", "ea.*|we.*", "nowhere"}[o.random.IntN(4)]
	if o.random.Float64() < 0.3 {
		def.AcquirerPattern = "(bare|worker)-.*[02468]"
	}
	if expected == 0 {
		if expected, _ = o.read(ctx, s.Name); expected == 0 {
			return 0
		}
	}
	return o.replace(ctx, s.Name, def, expected)
}

// replace replaces a definition, retrying until the outcome is known or it gives up. It returns the new version, or 0
// if the edit failed or its outcome is unknown.
func (o *operator) replace(ctx context.Context, name string, def history.Definition, expected uint64) uint64 {
	o.edits++
	r := history.Request{
		Kind: history.Edit, Semaphore: name, Definition: &def, ExpectedVersion: expected, RequestID: fmt.Sprintf("%s-edit-%d", o.Client(), o.edits),
	}
	for range 10 {
		done := o.Call(r)
		callCtx, cancel := context.WithTimeout(ctx, time.Second)
		resp, err := o.randomServer().definitions.ReplaceDefinition(callCtx, &gatekeeperv1.ReplaceDefinitionRequest{
			Definition: toProto(name, def), ExpectedVersion: expected, Author: o.Client(), RequestId: r.RequestID,
		})
		cancel()
		what := outcome(err)
		done(what, history.Response{Result: history.Done, Revision: resp.GetRecord().GetVersion()}, err)
		if what == history.Known || err != nil && status.Code(err) != codes.Unavailable && what == history.Refused {
			return resp.GetRecord().GetVersion()
		}
		if ctx.Err() != nil {
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	return 0
}

// read reads a definition and returns its version and content, or 0 and nil if it does not exist or cannot be read.
func (o *operator) read(ctx context.Context, name string) (uint64, *history.Definition) {
	done := o.Call(history.Request{Kind: history.Read, Semaphore: name})
	callCtx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	resp, err := o.randomServer().definitions.GetDefinition(callCtx, &gatekeeperv1.GetDefinitionRequest{Name: name})
	version := resp.GetRecord().GetVersion()
	switch {
	case status.Code(err) == codes.NotFound:
		done(history.Known, history.Response{Result: history.Done}, err)
	case err != nil:
		done(outcome(err), history.Response{}, err)
	default:
		def := fromProto(resp.Record.Definition)
		done(history.Known, history.Response{Result: history.Done, Revision: version, Definition: def}, nil)
		return version, def
	}
	return 0, nil
}

// pause pauses a semaphore temporarily.
func (o *operator) pause(ctx context.Context, s Semaphore) {
	stop := o.random.Float64() < 0.3
	drain := o.drain(stop && s.HasTasks)
	_ = o.perform(ctx, history.Request{Kind: history.Pause, Semaphore: s.Name, Stop: stop, Drain: drain != nil}, func(ctx context.Context, on stubs) (uint64, error) {
		r, err := on.operator.Pause(ctx, &gatekeeperv1.PauseRequest{Selector: only(s), Stop: stop, Drain: drain, Author: o.Client(), Reason: "proof"})
		return r.GetRevision(), err
	})
	o.dwell(ctx, s)
	_ = o.resume(ctx, s)
}

// dwell waits for a random time while a change is in effect. It waits longer for semaphores with tasks, because the
// time of a worker's grant is known less precisely than the time of a caller's.
func (o *operator) dwell(ctx context.Context, s Semaphore) {
	longest := 400 * time.Millisecond
	if s.HasTasks {
		longest = time.Second
	}
	pause(ctx, time.Duration(o.random.Int64N(int64(longest))))
}

func only(s Semaphore) *gatekeeperv1.Selector { return &gatekeeperv1.Selector{Names: []string{s.Name}} }

func (o *operator) resume(ctx context.Context, s Semaphore) error {
	return o.perform(ctx, history.Request{Kind: history.Resume, Semaphore: s.Name}, func(ctx context.Context, on stubs) (uint64, error) {
		r, err := on.operator.Resume(ctx, &gatekeeperv1.ResumeRequest{Selector: only(s), Author: o.Client()})
		return r.GetRevision(), err
	})
}

// drain returns a random drain time for about half of the changes that support one, and nil otherwise.
func (o *operator) drain(supported bool) *durationpb.Duration {
	if !supported || o.random.IntN(2) == 0 {
		return nil
	}
	return durationpb.New(time.Duration(1+o.random.IntN(500)) * time.Millisecond)
}

func (o *operator) revoke(ctx context.Context, s Semaphore) {
	token, ok := o.holder(ctx, s)
	if !ok {
		return
	}
	drain := o.drain(s.HasTasks)
	_ = o.perform(ctx, history.Request{Kind: history.Revoke, Semaphore: s.Name, Token: token, Drain: drain != nil}, func(ctx context.Context, on stubs) (uint64, error) {
		_, err := on.permits.Revoke(ctx, &gatekeeperv1.RevokeRequest{Token: token, Drain: drain, Author: o.Client(), Reason: "proof"})
		return 0, err
	})
}

// holder returns the token of a random holder. Workers are separate processes, so the permits of semaphores with tasks
// are read from the servers.
func (o *operator) holder(ctx context.Context, s Semaphore) (token uint64, ok bool) {
	if !s.HasTasks {
		return o.held.awaitToken(ctx, s.Name, o.random)
	}
	for range 10 {
		if p := randomPermit(ctx, o.randomServer(), s, o.random); p != nil {
			return p.GetToken(), true
		}
		pause(ctx, 20*time.Millisecond)
	}
	return 0, false
}

// takeOver takes a permit over from its holder. The permit may already have ended, and the semaphore may not allow
// takeovers.
func (o *operator) takeOver(ctx context.Context, s Semaphore) {
	token, ok := o.holder(ctx, s)
	if !ok || o.random.IntN(4) == 0 {
		token, ok = o.held.recentToken(o.random)
	}
	if ok {
		_ = o.takeOverFrom(ctx, s, token)
	}
}

func (o *operator) takeOverFrom(ctx context.Context, s Semaphore, token uint64) error {
	by := history.Identity{Group: "east", Acquirer: o.Client()}
	return o.perform(ctx, history.Request{Kind: history.TakeOver, Semaphore: s.Name, Token: token, Identity: by}, func(ctx context.Context, on stubs) (uint64, error) {
		_, err := on.permits.TakeOver(ctx, &gatekeeperv1.TakeOverRequest{Token: token, Identity: identity(by), Reason: "proof"})
		return 0, err
	})
}

// clear frees slots that are held for an operator.
func (o *operator) clear(ctx context.Context, name string) {
	callCtx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	on := o.randomServer()
	resp, err := on.permits.ListHolders(callCtx, &gatekeeperv1.ListHoldersRequest{Names: []string{name}})
	if err != nil {
		return
	}
	for _, p := range resp.Permits {
		if p.State != gatekeeperv1.PermitState_PERMIT_STATE_HELD {
			continue
		}
		done := o.Call(history.Request{Kind: history.Clear, Semaphore: name, Token: p.Token})
		_, err := on.permits.Clear(callCtx, &gatekeeperv1.ClearRequest{Token: p.Token, Author: o.Client(), Reason: "proof"})
		done(outcome(err), history.Response{Result: history.Done}, err)
	}
}

// create creates a world's semaphores.
func (o *operator) create(ctx context.Context, world []Semaphore) error {
	for _, s := range world {
		o.edits++
		r := history.Request{Kind: history.Edit, Semaphore: s.Name, Definition: &s.Definition, RequestID: fmt.Sprintf("%s-edit-%d", o.Client(), o.edits)}
		for {
			done := o.Call(r)
			resp, err := o.randomServer().definitions.CreateDefinition(ctx, &gatekeeperv1.CreateDefinitionRequest{
				Definition: toProto(s.Name, s.Definition), Author: o.Client(), RequestId: r.RequestID,
			})
			done(outcome(err), history.Response{Result: history.Done, Revision: resp.GetRecord().GetVersion()}, err)
			if err == nil {
				break
			}
			if status.Code(err) != codes.Unavailable || ctx.Err() != nil { // retry while a new leader is being elected
				return fmt.Errorf("create %s: %w", s.Name, err)
			}
			pause(ctx, 50*time.Millisecond)
		}
	}
	return nil
}

// readAll reads every definition, so that the checkers can verify each edit.
func (o *operator) readAll(ctx context.Context, world []Semaphore) error {
	for _, s := range world {
		for {
			if version, _ := o.read(ctx, s.Name); version != 0 {
				break
			}
			if ctx.Err() != nil {
				return fmt.Errorf("cannot read %s", s.Name)
			}
			pause(ctx, 20*time.Millisecond)
		}
	}
	return nil
}
