package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/internal/history"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// selves holds the identities that a job reuses, even if its process has crashed and calls from that process are still
// in flight.
type selves struct {
	// own has a holder id, nameless has none, and shared also belongs to a job on another machine.
	own, nameless, shared history.Identity
	// home is the semaphore that they request most often, so that jobs with a shared identity compete.
	home   string
	weight uint32
}

func selvesOf(machineIndex, job int) selves {
	names, name := semaphores(), machine(machineIndex)
	return selves{
		own:      history.Identity{Group: groupOf(machineIndex), Acquirer: name, HolderID: fmt.Sprint("own", job)},
		nameless: history.Identity{Group: groupOf(machineIndex), Acquirer: fmt.Sprintf("%s-%d", name, job)},
		shared:   history.Identity{Group: "prod", Acquirer: fmt.Sprintf("pair%d-%d", machineIndex/2, job), HolderID: []string{"both", ""}[job%2]},
		home:     names[(machineIndex/2*jobs+job)%len(names)],
		weight:   1 + uint32(job%2),
	}
}

func groupOf(machineIndex int) string { return []string{"prod", "dr"}[machineIndex%2] }

// lives makes several acquisitions under one identity, one after another. Calls from an earlier acquisition may still
// be in flight, and their holder may still believe that it holds a permit.
func (p *program) lives(w wish, self selves, luck *rand.Rand) {
	w.guise = false
	w.identity = []history.Identity{self.own, self.nameless, self.shared}[luck.IntN(3)]
	if luck.IntN(4) > 0 && w.due.IsZero() && firingPeriod(self.home) == 0 {
		w.semaphore = self.home
	}
	if w.weight = 1; w.semaphore == several || slices.Contains(workplaces(), w.semaphore) {
		w.weight = self.weight
	}
	for range 1 + luck.IntN(4) {
		now := p.now()
		switch luck.IntN(4) {
		case 0:
			p.poll(now, w, luck)
		case 1:
			p.ignore(now, w, luck)
		default:
			p.insist(now, w, luck)
		}
		pass(between(luck, 0, 50*time.Millisecond))
	}
}

// insist uses the client library. When the outcome of a request is unknown, it retries immediately, either with the
// same request or with a new one from the same identity while the cancellation of the first is in flight.
func (p *program) insist(now *process, w wish, luck *rand.Rand) {
	w.requestID = fmt.Sprintf("r%x", luck.Uint64())
	for range 4 {
		if luck.IntN(4) == 0 {
			w.hold = 0 // release immediately
		}
		w.leaves = true
		if asked, unknown := now.run(w, luck); !unknown {
			return
		} else if luck.IntN(2) == 0 {
			asker := now // the process may have been replaced by the time the cancellation is sent
			p.late.Go(func() { asker.takeBack(asked) })
			w.requestID = fmt.Sprintf("r%x", luck.Uint64())
		}
		now = p.now()
	}
}

// held is a token held by a caller that does not use the client library, and the time until which the caller relies on
// it, by the bubble's clock.
type held struct {
	token uint64
	until time.Duration
}

// poll keeps a permit by acquiring it repeatedly without a request id, as many clients do.
func (p *program) poll(now *process, w wish, luck *rand.Rand) {
	if !w.due.IsZero() {
		return // requires a request id
	}
	var last held
	for range 2 + luck.IntN(3) {
		replaces := uint64(0)
		if luck.IntN(2) == 0 {
			replaces = last.token // the caller no longer relies on it
		}
		if replaces != 0 {
			now.believe(w, last.token, min(last.until, now.world.now()))
		}
		got, ok := now.ask(w, "", replaces, luck)
		if !ok {
			break
		}
		if last.token != 0 && replaces == 0 {
			now.believe(w, last.token, min(last.until, now.world.now()))
		}
		last = got
		pass(between(luck, 0, 400*time.Millisecond))
	}
	if last.token == 0 || luck.IntN(4) == 0 {
		return // the caller relies on it until the deadline, and does not release it
	}
	now.believe(w, last.token, min(last.until, now.world.now()))
	now.giveBack(w, last.token)
}

// ignore acquires a permit and ignores all notices about it. It believes that it holds the permit until the deadline,
// or releases the permit or cancels the request at some point, early or late.
func (p *program) ignore(now *process, w wish, luck *rand.Rand) {
	request := fmt.Sprintf("r%x", luck.Uint64())
	after, ends := between(luck, 0, 3*time.Second), luck.IntN(3)
	behind := luck.IntN(2) == 0
	asking := rand.New(rand.NewPCG(luck.Uint64(), 0)) // for the acquisition, which may run concurrently
	act := func() {
		if behind { // another acquisition by the identity may be answered first
			pass(after / 3)
		}
		got, ok := now.ask(w, request, 0, asking)
		if !ok {
			return
		}
		pass(after)
		if ends > 0 {
			now.believe(w, got.token, min(got.until, now.world.now()))
		}
		switch ends {
		case 1:
			now.giveBack(w, got.token)
		case 2:
			now.takeBack(w.asked(request))
		}
	}
	if behind {
		p.late.Go(act)
		return
	}
	act()
}

// asked returns the acquisition as recorded in the history.
func (w *wish) asked(request string) history.Request {
	r := history.Request{Kind: history.Acquire, Semaphore: w.semaphore, Weight: w.weight, RequestID: request, Identity: w.identity}
	if !w.due.IsZero() {
		r.Firing = firingName(w.semaphore, w.due)
	}
	return r
}

// ask acquires without the library's renewer, and relies on the response for as long as the rule for all callers
// allows.
func (p *process) ask(w wish, request string, replaces uint64, luck *rand.Rand) (held, bool) {
	asked := w.asked(request)
	asked.Replaces = replaces
	m := &gatekeeperv1.TryAcquireRequest{
		Semaphore: w.semaphore, Weight: w.weight, RequestId: request, ReplacesToken: replaces,
		Identity: &gatekeeperv1.Identity{Group: w.identity.Group, Acquirer: w.identity.Acquirer, HolderId: w.identity.HolderID},
	}
	if !w.due.IsZero() {
		m.Firing = &gatekeeperv1.Firing{Name: w.semaphore, Due: timestamppb.New(w.due)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	sent := p.world.now()
	answered := p.record.Call(asked)
	r, err := p.client.Permits().TryAcquire(ctx, m)
	if p.isCrashed() {
		return held{}, false
	}
	switch g, d := r.GetGrant(), r.GetDenial(); {
	case err != nil:
		answered(outcome(err), history.Response{}, err)
	case d != nil:
		answered(history.Known, history.Response{Result: history.Denied, Reason: strings.TrimPrefix(d.GetReason().String(), "REASON_"), Waiting: d.GetQueueLength()}, nil)
		p.lostClaim(w, d.GetFiring().GetToken(), luck)
	default:
		lasts := g.GetWaited().AsDuration() + g.GetPermit().GetDuration().AsDuration()
		got := held{g.GetPermit().GetToken(), sent + time.Duration(float64(lasts)*0.98/p.rate)}
		answered(history.Known, history.Response{
			Result: history.Granted, Token: got.token, SafeUntil: got.until,
			Superseded: g.GetSupersededToken(), Fresh: !g.GetRefreshed() && g.GetSupersededToken() == 0,
		}, nil)
		p.believe(w, got.token, got.until)
		p.world.granted(w.semaphore, got.token, lasts, luck)
		return got, true
	}
	return held{}, false
}

// believe records the time until which the process believes that it holds a token.
func (p *process) believe(w wish, token uint64, until time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from, ok := p.believed[token]
	if !ok {
		if from = p.world.now(); from >= until {
			return // the response came too late
		}
		p.believed[token] = from
	}
	p.record.Belief(history.Belief{Semaphore: w.semaphore, Token: token, Weight: w.weight, From: from, Until: max(from, until)})
}

// giveBack releases a permit that the process no longer relies on.
func (p *process) giveBack(w wish, token uint64) {
	asked := releaseOf(w.semaphore, token, w.outcome)
	m := &gatekeeperv1.ReleaseRequest{Token: token, Outcome: w.outcome, Failure: asked.Failure}
	answered := p.record.Call(asked)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, err := p.client.Permits().Release(ctx, m)
	switch {
	case p.isCrashed():
	case err != nil:
		answered(history.Unknown, history.Response{}, err)
	case r.GetReleased():
		answered(history.Known, history.Response{Result: history.Released}, nil)
	default:
		answered(history.Known, history.Response{Result: history.Ended}, nil)
	}
}

func (p *process) isCrashed() bool {
	select {
	case <-p.crashed:
		return true
	default:
		return false
	}
}
