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

// jobIdentities holds the identities that a job reuses, even after its process has crashed while calls were in flight.
type jobIdentities struct {
	// own has a holder id, withoutHolderID has none, and shared is also used by a job on another machine.
	own, withoutHolderID, shared history.Identity
	// usualSemaphore is requested most often, so that jobs with a shared identity compete for it.
	usualSemaphore string
	weight         uint32
}

func identitiesOf(machineIndex, job int) jobIdentities {
	names, name := semaphores(), machine(machineIndex)
	return jobIdentities{
		own:             history.Identity{Group: groupOf(machineIndex), Acquirer: name, HolderID: fmt.Sprint("own", job)},
		withoutHolderID: history.Identity{Group: groupOf(machineIndex), Acquirer: fmt.Sprintf("%s-%d", name, job)},
		shared:          history.Identity{Group: "prod", Acquirer: fmt.Sprintf("pair%d-%d", machineIndex/2, job), HolderID: []string{"both", ""}[job%2]},
		usualSemaphore:  names[(machineIndex/2*jobs+job)%len(names)],
		weight:          1 + uint32(job%2),
	}
}

func groupOf(machineIndex int) string { return []string{"prod", "dr"}[machineIndex%2] }

// acquireRepeatedly makes several acquisitions in sequence under one identity. Calls from an earlier acquisition may
// still be in flight, and their caller may still rely on its permit.
func (p *program) acquireRepeatedly(w jobSpec, ids jobIdentities, rng *rand.Rand) {
	w.impersonatesWorker = false
	w.identity = []history.Identity{ids.own, ids.withoutHolderID, ids.shared}[rng.IntN(3)]
	if rng.IntN(4) > 0 && w.due.IsZero() && firingPeriod(ids.usualSemaphore) == 0 {
		w.semaphore = ids.usualSemaphore
	}
	if w.weight = 1; w.semaphore == severalSem || slices.Contains(taskSemaphores(), w.semaphore) {
		w.weight = ids.weight
	}
	for range 1 + rng.IntN(4) {
		proc := p.currentProcess()
		switch rng.IntN(4) {
		case 0:
			p.poll(proc, w, rng)
		case 1:
			p.ignoreNotices(proc, w, rng)
		default:
			p.acquireWithRetries(proc, w, rng)
		}
		advance(between(rng, 0, 50*time.Millisecond))
	}
}

// acquireWithRetries uses the client library. If the outcome of a request is unknown, it retries immediately. Either it
// repeats the request, or it sends a new one while the cancellation of the first is in flight.
func (p *program) acquireWithRetries(proc *process, w jobSpec, rng *rand.Rand) {
	w.requestID = fmt.Sprintf("r%x", rng.Uint64())
	for range 4 {
		if rng.IntN(4) == 0 {
			w.hold = 0 // release immediately
		}
		w.noCancel = true
		if acquireRequest, unknown := proc.run(w, rng); !unknown {
			return
		} else if rng.IntN(2) == 0 {
			oldProc := proc // the process may have been replaced by the time the cancellation is sent
			p.lateCalls.Go(func() { oldProc.cancelRequest(acquireRequest) })
			w.requestID = fmt.Sprintf("r%x", rng.Uint64())
		}
		proc = p.currentProcess()
	}
}

// heldToken is a token held by a caller that does not use the client library, and the time until which the caller
// relies on it, by the bubble's clock.
type heldToken struct {
	token uint64
	until time.Duration
}

// poll keeps a permit by acquiring it repeatedly without a request id, as many clients do.
func (p *program) poll(proc *process, w jobSpec, rng *rand.Rand) {
	if !w.due.IsZero() {
		return // firings require a request id
	}
	var last heldToken
	for range 2 + rng.IntN(3) {
		replaces := uint64(0)
		if rng.IntN(2) == 0 {
			replaces = last.token // the caller no longer relies on it
		}
		if replaces != 0 {
			proc.recordBelief(w, last.token, min(last.until, proc.world.now()))
		}
		got, ok := proc.acquireDirect(w, "", replaces, rng)
		if !ok {
			break
		}
		if last.token != 0 && replaces == 0 {
			proc.recordBelief(w, last.token, min(last.until, proc.world.now()))
		}
		last = got
		advance(between(rng, 0, 400*time.Millisecond))
	}
	if last.token == 0 || rng.IntN(4) == 0 {
		return // the caller relies on it until the deadline, and does not release it
	}
	proc.recordBelief(w, last.token, min(last.until, proc.world.now()))
	proc.releaseToken(w, last.token)
}

// ignoreNotices acquires a permit and ignores all notices about it. It relies on the permit until the deadline, or
// releases the permit or cancels the request after a random time.
func (p *program) ignoreNotices(proc *process, w jobSpec, rng *rand.Rand) {
	request := fmt.Sprintf("r%x", rng.Uint64())
	after, endKind := between(rng, 0, 3*time.Second), rng.IntN(3)
	background := rng.IntN(2) == 0
	acquireRNG := rand.New(rand.NewPCG(rng.Uint64(), 0)) // for the acquisition, which may run concurrently
	act := func() {
		if background { // another acquisition under this identity may be answered first
			advance(after / 3)
		}
		got, ok := proc.acquireDirect(w, request, 0, acquireRNG)
		if !ok {
			return
		}
		advance(after)
		if endKind > 0 {
			proc.recordBelief(w, got.token, min(got.until, proc.world.now()))
		}
		switch endKind {
		case 1:
			proc.releaseToken(w, got.token)
		case 2:
			proc.cancelRequest(w.acquireRequest(request))
		}
	}
	if background {
		p.lateCalls.Go(act)
		return
	}
	act()
}

// acquireRequest returns the acquisition as recorded in the history.
func (w *jobSpec) acquireRequest(request string) history.Request {
	r := history.Request{Kind: history.Acquire, Semaphore: w.semaphore, Weight: w.weight, RequestID: request, Identity: w.identity}
	if !w.due.IsZero() {
		r.Firing = firingName(w.semaphore, w.due)
	}
	return r
}

// acquireDirect acquires a permit without the library's renewer, and relies on it for as long as the protocol allows.
func (p *process) acquireDirect(w jobSpec, request string, replaces uint64, rng *rand.Rand) (heldToken, bool) {
	acquireRequest := w.acquireRequest(request)
	acquireRequest.Replaces = replaces
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
	complete := p.record.Call(acquireRequest)
	r, err := p.client.Permits().TryAcquire(ctx, m)
	if p.isCrashed() {
		return heldToken{}, false
	}
	switch g, d := r.GetGrant(), r.GetDenial(); {
	case err != nil:
		complete(outcome(err), history.Response{}, err)
	case d != nil:
		complete(history.Known, history.Response{Result: history.Denied, Reason: strings.TrimPrefix(d.GetReason().String(), "REASON_"), Waiting: d.GetQueueLength()}, nil)
		p.maybeAwaitFiring(w, d.GetFiring().GetToken(), rng)
	default:
		validFor := g.GetWaited().AsDuration() + g.GetPermit().GetDuration().AsDuration()
		got := heldToken{g.GetPermit().GetToken(), sent + time.Duration(float64(validFor)*0.98/p.rate)}
		complete(history.Known, history.Response{
			Result: history.Granted, Token: got.token, SafeUntil: got.until,
			Superseded: g.GetSupersededToken(), Fresh: !g.GetRefreshed() && g.GetSupersededToken() == 0,
		}, nil)
		p.recordBelief(w, got.token, got.until)
		p.world.recordGrant(w.semaphore, got.token, validFor, rng)
		return got, true
	}
	return heldToken{}, false
}

// recordBelief records the time until which the process relies on a token.
func (p *process) recordBelief(w jobSpec, token uint64, until time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from, ok := p.believedSince[token]
	if !ok {
		if from = p.world.now(); from >= until {
			return // the response arrived too late
		}
		p.believedSince[token] = from
	}
	p.record.Belief(history.Belief{Semaphore: w.semaphore, Token: token, Weight: w.weight, From: from, Until: max(from, until)})
}

// releaseToken releases a permit that the process no longer relies on.
func (p *process) releaseToken(w jobSpec, token uint64) {
	acquireRequest := releaseRequest(w.semaphore, token, w.outcome)
	m := &gatekeeperv1.ReleaseRequest{Token: token, Outcome: w.outcome, Failure: acquireRequest.Failure}
	complete := p.record.Call(acquireRequest)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, err := p.client.Permits().Release(ctx, m)
	switch {
	case p.isCrashed():
	case err != nil:
		complete(history.Unknown, history.Response{}, err)
	case r.GetReleased():
		complete(history.Known, history.Response{Result: history.Released}, nil)
	default:
		complete(history.Known, history.Response{Result: history.Ended}, nil)
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
