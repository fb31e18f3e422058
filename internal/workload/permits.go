package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/loop"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Semaphores used by more than one kind.
const (
	nameOwn  = "own"  // one for each caller
	nameHeld = "held" // its only permit is always held
	nameWide = "wide" // it has enough permits for all callers
)

// ownDefinitions returns one definition for each caller.
func ownDefinitions(s Settings) []*gatekeeperv1.Definition {
	var all []*gatekeeperv1.Definition
	for caller := range s.Callers {
		all = append(all, permits(nameOwn+"/"+strconv.Itoa(caller), 1))
	}
	return all
}

func newAcquire() *Kind {
	return &Kind{
		Name:  "acquire",
		Short: "acquire and release permits, each caller on a separate semaphore; each pair counts as one operation",
		needs: ownDefinitions,
		prepare: func(_ context.Context, f *Fixture, callers int) (*Session, error) {
			p := newPairs(f, callers)
			return &Session{Call: p.call, Callers: callers, close: p.close}, nil
		},
	}
}

// pairs are callers that acquire and release, each on a separate semaphore.
type pairs struct {
	fixture *Fixture
	names   []string // each caller's semaphore
	// tokens holds the token of each caller, or 0. Each element is written only by its caller.
	tokens []uint64
}

func newPairs(f *Fixture, callers int) *pairs {
	p := &pairs{f, make([]string, callers), make([]uint64, callers)}
	for caller := range p.names {
		p.names[caller] = f.name(nameOwn, caller)
	}
	return p
}

func (p *pairs) call(ctx context.Context, turn loop.Turn) (int, error) {
	// After an error the caller may still hold a permit. It then keeps that permit under a new token, because its
	// identity is the same.
	token, err := p.fixture.acquire(ctx, turn.Caller, strconv.Itoa(turn.Caller), p.names[turn.Caller])
	if err != nil {
		return 0, err
	}
	p.tokens[turn.Caller] = token
	if err := p.fixture.releaseOne(ctx, p.fixture.permits(turn.Caller), token); err != nil {
		return 0, err
	}
	p.tokens[turn.Caller] = 0
	return 1, nil
}

func (p *pairs) close(ctx context.Context) error { return p.fixture.release(ctx, nonZero(p.tokens)) }

// nonZero returns the tokens that are not 0.
func nonZero(tokens []uint64) []uint64 {
	var out []uint64
	for _, t := range tokens {
		if t != 0 {
			out = append(out, t)
		}
	}
	return out
}

// queueTimeout is how long a caller waits in the queue before it is considered lost.
const queueTimeout = time.Minute

func newQueue() *Kind {
	const hot = "hot"
	return &Kind{
		Name:  "queue",
		Short: "queue for the only permit of a semaphore that all callers share, and release it; latency is mostly waiting time",
		needs: func(Settings) []*gatekeeperv1.Definition { return []*gatekeeperv1.Definition{permits(hot, 1)} },
		prepare: func(_ context.Context, f *Fixture, callers int) (*Session, error) {
			return &Session{Callers: callers, Call: func(ctx context.Context, turn loop.Turn) (int, error) {
				waitCtx, cancel := context.WithTimeout(ctx, queueTimeout)
				defer cancel()
				p, err := f.client(turn.Caller).Semaphore(f.name(hot)).Acquire(waitCtx)
				if err != nil {
					return 0, err
				}
				// Release even if the run is interrupted now, because other callers are waiting for the permit.
				releaseCtx, cancel := f.withTimeout(context.WithoutCancel(ctx))
				defer cancel()
				return 1, p.Release(releaseCtx)
			}}, nil
		},
	}
}

func newDeny() *Kind {
	return &Kind{
		Name:  "deny",
		Short: "try to acquire a permit that is held by another caller; a denial is the expected response, and a grant is an error",
		needs: func(Settings) []*gatekeeperv1.Definition { return []*gatekeeperv1.Definition{permits(nameHeld, 1)} },
		prepare: func(ctx context.Context, f *Fixture, callers int) (*Session, error) {
			d, err := newDenials(ctx, f)
			if err != nil {
				return nil, err
			}
			return &Session{Call: d.call, Callers: callers, close: d.close}, nil
		},
	}
}

// denials are callers that request a permit that is already held.
type denials struct {
	fixture *Fixture
	name    string
	held    *client.Permit // kept alive by the client
}

func newDenials(ctx context.Context, f *Fixture) (*denials, error) {
	ctx, cancel := f.withTimeout(ctx)
	defer cancel()
	name := f.name(nameHeld)
	held, err := f.clients[0].Semaphore(name, client.WithHolderID("holder")).TryAcquire(ctx)
	return &denials{f, name, held}, err
}

func (d *denials) call(ctx context.Context, turn loop.Turn) (int, error) {
	callCtx, cancel := d.fixture.withTimeout(ctx)
	defer cancel()
	r, err := d.fixture.permits(turn.Caller).TryAcquire(callCtx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: d.name, Identity: d.fixture.identity(turn.Caller, strconv.Itoa(turn.Caller)), RequestId: d.fixture.requestID(),
	})
	if err != nil {
		return 0, err
	}
	if token := r.GetGrant().GetPermit().GetToken(); token != 0 {
		err := d.fixture.releaseOne(ctx, d.fixture.permits(turn.Caller), token)
		return 0, errors.Join(fmt.Errorf("permit %d was granted even though the only permit is held", token), err)
	}
	if reason := r.GetDenial().GetReason(); reason != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		return 0, fmt.Errorf("denied, but not because the permit is taken: %s", r.GetDenial().GetMessage())
	}
	return 1, nil
}

func (d *denials) close(ctx context.Context) error {
	ctx, cancel := d.fixture.withTimeout(ctx)
	defer cancel()
	return d.held.Release(ctx)
}

func newMixed() *Kind {
	return &Kind{
		Name:  "mixed",
		Short: "90% deny, 9% refresh and 1% acquire: the typical load from schedulers",
		needs: func(s Settings) []*gatekeeperv1.Definition {
			return append(ownDefinitions(s), permits(nameHeld, 1), permits(nameWide, wide))
		},
		prepare: prepareMixed,
	}
}

func prepareMixed(ctx context.Context, f *Fixture, callers int) (*Session, error) {
	refreshes, err := hold(ctx, f, callers, 1)
	if err != nil {
		return nil, err
	}
	denied, err := newDenials(ctx, f)
	if err != nil {
		return nil, errors.Join(err, refreshes.close(context.WithoutCancel(ctx)))
	}
	paired := newPairs(f, callers)
	deny, refresh, acquire := newPart("deny"), newPart("refresh"), newPart("acquire")
	calls := make([]int, callers) // calls of each caller
	return &Session{
		Callers: callers,
		Parts:   []*Part{deny, refresh, acquire},
		Call: func(ctx context.Context, turn loop.Turn) (int, error) {
			n := calls[turn.Caller] + turn.Caller // offset callers, so that they do not make the rare calls at the same time
			calls[turn.Caller]++
			part, call := deny, denied.call
			switch n * 37 % 100 { // each remainder occurs once in a hundred calls, in a shuffled order
			case 0:
				part, call = acquire, paired.call
			case 1, 2, 3, 4, 5, 6, 7, 8, 9:
				part, call = refresh, refreshes.call
			}
			done, err := call(ctx, turn)
			if err == nil {
				part.recordSince(turn.Caller, turn.Since)
			}
			return done, err
		},
		close: func(ctx context.Context) error {
			return errors.Join(paired.close(ctx), denied.close(ctx), refreshes.close(ctx))
		},
	}, nil
}
