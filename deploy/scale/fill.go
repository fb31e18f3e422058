package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// longDuration is the duration of permits. It is the cluster's maximum, so that no permit expires during the run.
	longDuration = time.Hour
	// briefDuration is the duration of permits whose expiry is measured.
	briefDuration = 2 * time.Second
	// wideCount is the number of semaphores that share half of the permits. The other half is spread over
	// semaphores with few permits each.
	wideCount = 10
	// batchSize is the number of definitions created per log entry.
	batchSize = 5000
	// hosts is the number of acquirers that hold the permits.
	hosts = 10_000
	// group is the group of all acquirers.
	group = "site-3"
)

// Names of the semaphores for measurements, which are created first.
const (
	heldName  = "held"  // held by another caller
	probeName = "probe" // used by one caller after another
	briefName = "brief" // its permits expire
)

func wideName(i int) string { return "pool/site-" + strconv.Itoa(i) }

// typicalName returns the name of a typical definition.
func typicalName(i int) string { return fmt.Sprintf("reports-nightly-%06d", i) }

func ownName(caller int) string { return "own/" + strconv.Itoa(caller) }

// typical returns a definition of typical size, with two labels, a description and a pattern.
func typical(i int) *gatekeeperv1.Definition {
	pattern, permits := group+"|site-"+strconv.Itoa(i%7), uint32(1000)
	return &gatekeeperv1.Definition{
		Name: typicalName(i), Description: "Runs every 2h.", Labels: map[string]string{"team": "team-" + strconv.Itoa(i%100), "cluster": group},
		GroupPattern: &pattern, Permits: &permits, Duration: durationpb.New(longDuration),
	}
}

// fleet holds a server's callers and the objects they have created.
type fleet struct {
	conns   load.Conns
	created amounts
	tokens  []uint64
}

// newFleet opens connections to a server, creates the semaphores for measurements, and acquires the permit of the
// semaphore heldName.
func newFleet(ctx context.Context, address string, callers int) (*fleet, error) {
	conns, err := load.Dial(address)
	if err != nil {
		return nil, err
	}
	f := &fleet{conns: conns}
	wide := uint32(1_000_000)
	edits := []*gatekeeperv1.Edit{
		creation(&gatekeeperv1.Definition{Name: heldName, Duration: durationpb.New(longDuration)}),
		creation(&gatekeeperv1.Definition{Name: probeName, Duration: durationpb.New(longDuration)}),
		creation(&gatekeeperv1.Definition{Name: briefName, Permits: &wide, Duration: durationpb.New(briefDuration)}),
	}
	for i := range wideCount {
		edits = append(edits, creation(&gatekeeperv1.Definition{Name: wideName(i), Permits: &wide, Duration: durationpb.New(longDuration)}))
	}
	for caller := range callers {
		edits = append(edits, creation(&gatekeeperv1.Definition{Name: ownName(caller), Duration: durationpb.New(longDuration)}))
	}
	if err := f.edit(ctx, edits); err != nil {
		f.close()
		return nil, err
	}
	if _, err := f.acquire(ctx, 0, heldName, "holder", ""); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *fleet) close() { f.conns.Close() }

func (f *fleet) permits(caller int) gatekeeperv1.PermitServiceClient {
	return gatekeeperv1.NewPermitServiceClient(f.conns.ForCaller(caller))
}

func creation(def *gatekeeperv1.Definition) *gatekeeperv1.Edit {
	return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: def}}
}

func (f *fleet) edit(ctx context.Context, edits []*gatekeeperv1.Edit) error {
	_, err := gatekeeperv1.NewDefinitionServiceClient(f.conns.ForCaller(0)).BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "scale"})
	return err
}

// acquire acquires a permit. A denial is an error. A caller without a holder id gets its existing permit if it has one.
func (f *fleet) acquire(ctx context.Context, caller int, semaphore, acquirer, holder string) (uint64, error) {
	request := &gatekeeperv1.TryAcquireRequest{
		Semaphore: semaphore, Identity: &gatekeeperv1.Identity{Group: group, Acquirer: acquirer, HolderId: holder},
	}
	if holder != "" {
		request.RequestId = holder
	}
	resp, err := f.permits(caller).TryAcquire(ctx, request)
	if err != nil {
		return 0, err
	}
	if resp.GetGrant() == nil {
		return 0, fmt.Errorf("a permit for %s was denied: %s", semaphore, resp.GetDenial().GetMessage())
	}
	return resp.GetGrant().GetPermit().GetToken(), nil
}

func (f *fleet) release(ctx context.Context, caller int, token uint64) error {
	resp, err := f.permits(caller).Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token})
	if err == nil && !resp.GetReleased() {
		err = fmt.Errorf("not released: %s", resp.GetMessage())
	}
	return err
}

// holder returns a holder id that is as long as the client library's.
func holder(i int) string { return fmt.Sprintf("h%025d", i) }

// newHolder returns an unused holder id. Ids cannot be reused, because servers remember recently ended permits.
func newHolder() string { return fmt.Sprintf("n%025d", rand.Uint64()) }

// define creates definitions until the given number exists.
func (f *fleet) define(ctx context.Context, to int) error {
	for f.created.Definitions < to {
		var edits []*gatekeeperv1.Edit
		for i := f.created.Definitions; i < min(f.created.Definitions+batchSize, to); i++ {
			edits = append(edits, creation(typical(i)))
		}
		if err := f.edit(ctx, edits); err != nil {
			return fmt.Errorf("create definitions: %w", err)
		}
		f.created.Definitions += len(edits)
	}
	return nil
}

// grant acquires permits, each with a separate call, until the given number exists. Every other permit belongs to a
// wide semaphore. The rest are spread over the newest definitions. newest is their number.
func (f *fleet) grant(ctx context.Context, callers, to, newest int) error {
	first := f.created.Permits
	f.tokens = append(f.tokens, make([]uint64, to-first)...)
	var next atomic.Int64
	next.Store(int64(first))
	err := runConcurrently(ctx, callers, func(ctx context.Context, caller int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= to {
				return nil
			}
			name := wideName(i / 2 % wideCount)
			if i%2 == 1 && newest > 0 {
				name = typicalName(f.created.Definitions - 1 - i/2%newest)
			}
			token, err := f.acquire(ctx, caller, name, host(i), holder(i))
			if err != nil {
				return fmt.Errorf("permit %d: %w", i, err)
			}
			f.tokens[i] = token
		}
	})
	f.created.Permits = to
	return err
}

func host(i int) string { return fmt.Sprintf("batch-host-%05d", i%hosts) }

// runConcurrently calls do concurrently for a number of callers. The first error cancels the others and is returned.
func runConcurrently(ctx context.Context, callers int, do func(ctx context.Context, caller int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			if err := do(ctx, caller); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
