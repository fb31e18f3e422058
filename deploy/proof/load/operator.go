package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// operator edits, pauses, revokes and clears.
type operator struct {
	caller
	random  *rand.Rand
	servers *endpoints
	held    *held
	edits   int
}

func (o *operator) any() stubs { return o.servers.any(o.random) }

// run has its hands in one semaphore until the context ends, as the semaphore says.
func (o *operator) run(ctx context.Context, s Semaphore) {
	var version uint64
	for ctx.Err() == nil {
		switch {
		case s.Edited:
			version = o.edit(ctx, s, version)
		case s.Paused:
			o.pause(ctx, s.Name)
		case s.Revoked:
			o.revoke(ctx, s.Name)
			o.takeOver(ctx, s.Name)
		case s.Definition.HoldOnExpiry:
			o.clear(ctx, s.Name)
		case s.Firings == 0 || !s.Definition.Takeover:
			return
		}
		if s.Firings > 0 {
			o.takeOver(ctx, s.Name)
		}
		pause(ctx, time.Duration(100+o.random.IntN(300))*time.Millisecond)
	}
}

// edit replaces a definition, of this version if it is known, by one with other permits and patterns, and returns the new one's.
func (o *operator) edit(ctx context.Context, s Semaphore, expected uint64) uint64 {
	def := s.Definition
	def.Permits = uint32(o.random.IntN(int(s.Definition.Permits) + 1))
	def.GroupPattern = []string{".*", "east", "ea.*|we.*", "nowhere"}[o.random.IntN(4)]
	if o.random.Float64() < 0.3 {
		def.AcquirerPattern = "bare-.*[02468]"
	}
	if expected == 0 {
		if expected = o.read(ctx, s.Name); expected == 0 {
			return 0
		}
	}
	return o.replace(ctx, s.Name, def, expected)
}

// replace asks until it knows what came of it, or gives up; it returns the new version, or 0.
func (o *operator) replace(ctx context.Context, name string, def history.Definition, expected uint64) uint64 {
	o.edits++
	r := history.Request{
		Kind: history.Edit, Semaphore: name, Definition: &def, ExpectedVersion: expected, RequestID: fmt.Sprintf("%s-edit-%d", o.Client(), o.edits),
	}
	for range 10 {
		done := o.Call(r)
		call, cancel := context.WithTimeout(ctx, time.Second)
		answer, err := o.any().definitions.ReplaceDefinition(call, &gatekeeperv1.ReplaceDefinitionRequest{
			Definition: wire(name, def), ExpectedVersion: expected, Author: o.Client(), RequestId: r.RequestID,
		})
		cancel()
		what := outcome(err)
		done(what, history.Response{Result: history.Done, Revision: answer.GetRecord().GetVersion()}, err)
		if what == history.Known || err != nil && status.Code(err) != codes.Unavailable && what == history.Refused {
			return answer.GetRecord().GetVersion()
		}
		if ctx.Err() != nil {
			break
		}
		pause(ctx, 50*time.Millisecond)
	}
	return 0
}

// read reads a definition, and returns its version, or 0.
func (o *operator) read(ctx context.Context, name string) uint64 {
	done := o.Call(history.Request{Kind: history.Read, Semaphore: name})
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	answer, err := o.any().definitions.GetDefinition(call, &gatekeeperv1.GetDefinitionRequest{Name: name})
	version := answer.GetRecord().GetVersion()
	switch {
	case status.Code(err) == codes.NotFound:
		done(history.Known, history.Response{Result: history.Done}, err)
	case err != nil:
		done(outcome(err), history.Response{}, err)
	default:
		done(history.Known, history.Response{Result: history.Done, Revision: version, Definition: read(answer.Record.Definition)}, nil)
	}
	return version
}

func (o *operator) pause(ctx context.Context, name string) {
	selector := &gatekeeperv1.Selector{Names: []string{name}}
	stop := o.random.Float64() < 0.3
	done := o.Call(history.Request{Kind: history.Pause, Semaphore: name, Stop: stop})
	call, cancel := context.WithTimeout(ctx, time.Second)
	answer, err := o.any().operator.Pause(call, &gatekeeperv1.PauseRequest{Selector: selector, Stop: stop, Author: o.Client(), Reason: "proof"})
	cancel()
	done(outcome(err), history.Response{Result: history.Done, Revision: answer.GetRevision()}, err)
	pause(ctx, time.Duration(o.random.IntN(400))*time.Millisecond)
	done = o.Call(history.Request{Kind: history.Resume, Semaphore: name})
	call, cancel = context.WithTimeout(ctx, time.Second)
	back, err := o.any().operator.Resume(call, &gatekeeperv1.ResumeRequest{Selector: selector, Author: o.Client()})
	cancel()
	done(outcome(err), history.Response{Result: history.Done, Revision: back.GetRevision()}, err)
}

func (o *operator) revoke(ctx context.Context, name string) {
	token, ok := o.held.soon(ctx, name, o.random)
	if !ok {
		return
	}
	done := o.Call(history.Request{Kind: history.Revoke, Semaphore: name, Token: token})
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := o.any().permits.Revoke(call, &gatekeeperv1.RevokeRequest{Token: token, Author: o.Client(), Reason: "proof"})
	done(outcome(err), history.Response{Result: history.Done}, err)
}

// takeOver judges a holder dead, also one that has ended, and one of a semaphore that does not allow it.
func (o *operator) takeOver(ctx context.Context, name string) {
	token, ok := o.held.soon(ctx, name, o.random)
	if !ok || o.random.IntN(4) == 0 {
		token, ok = o.held.gone(o.random)
	}
	if !ok {
		return
	}
	by := history.Identity{Group: "east", Acquirer: o.Client()}
	done := o.Call(history.Request{Kind: history.TakeOver, Semaphore: name, Token: token, Identity: by})
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := o.any().permits.TakeOver(call, &gatekeeperv1.TakeOverRequest{Token: token, Identity: identity(by), Reason: "proof"})
	done(outcome(err), history.Response{Result: history.Done}, err)
}

// clear frees what is held for an operator.
func (o *operator) clear(ctx context.Context, name string) {
	call, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	on := o.any()
	answer, err := on.permits.ListHolders(call, &gatekeeperv1.ListHoldersRequest{Names: []string{name}})
	if err != nil {
		return
	}
	for _, p := range answer.Permits {
		if p.State != gatekeeperv1.PermitState_PERMIT_STATE_HELD {
			continue
		}
		done := o.Call(history.Request{Kind: history.Clear, Semaphore: name, Token: p.Token})
		_, err := on.permits.Clear(call, &gatekeeperv1.ClearRequest{Token: p.Token, Author: o.Client(), Reason: "proof"})
		done(outcome(err), history.Response{Result: history.Done}, err)
	}
}

// create makes the semaphores of the world, and fails when it cannot.
func (o *operator) create(ctx context.Context, world []Semaphore) error {
	for _, s := range world {
		o.edits++
		r := history.Request{Kind: history.Edit, Semaphore: s.Name, Definition: &s.Definition, RequestID: fmt.Sprintf("%s-edit-%d", o.Client(), o.edits)}
		for {
			done := o.Call(r)
			answer, err := o.any().definitions.CreateDefinition(ctx, &gatekeeperv1.CreateDefinitionRequest{
				Definition: wire(s.Name, s.Definition), Author: o.Client(), RequestId: r.RequestID,
			})
			done(outcome(err), history.Response{Result: history.Done, Revision: answer.GetRecord().GetVersion()}, err)
			if err == nil {
				break
			}
			if status.Code(err) != codes.Unavailable || ctx.Err() != nil { // else somebody else is about to lead
				return fmt.Errorf("create %s: %w", s.Name, err)
			}
			pause(ctx, 50*time.Millisecond)
		}
	}
	return nil
}

// readAll reads every definition, so that the checkers see whether each edit is there.
func (o *operator) readAll(ctx context.Context, world []Semaphore) error {
	for _, s := range world {
		for o.read(ctx, s.Name) == 0 {
			if ctx.Err() != nil {
				return fmt.Errorf("%s cannot be read", s.Name)
			}
			pause(ctx, 20*time.Millisecond)
		}
	}
	return nil
}
