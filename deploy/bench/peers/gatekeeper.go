package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// long is the duration of permits, which must not expire during a measurement.
	long = time.Hour
	// tokensPerFrame is the number of permits that one message refreshes in the tokens workload. frameStreams is the
	// number of callers that hold that many permits.
	tokensPerFrame = 100
	frameStreams   = 64
)

// gatekeeper is a cluster to measure. Requests go to its leader.
type gatekeeper struct {
	cluster *servers.Cluster
	creds   credentials.TransportCredentials
	conns   load.Conns
	tokens  [][]uint64 // tokens by caller
	opened  int        // number of semaphores created for tasks
}

// newGatekeeper starts a cluster for at most the given number of callers. Work that does not write to the log is
// measured only for the first store.
func newGatekeeper(ctx context.Context, opts servers.Options, store string, callers int, first bool) (*system, error) {
	creds := insecure.NewCredentials()
	if opts.Secure != nil {
		creds = opts.Secure.Credentials()
	}
	cluster, err := servers.Start(ctx, opts)
	if err != nil {
		return nil, err
	}
	g := &gatekeeper{cluster: cluster, creds: creds, tokens: make([][]uint64, callers)}
	if err := g.prepare(ctx, first); err != nil {
		g.close()
		return nil, err
	}
	all := append(g.submitVariants(), variant{Work: pairs, How: "TryAcquire, Release", open: ready(g.pair)})
	if first {
		all = append(all,
			variant{Work: denials, How: "TryAcquire", open: ready(g.denial)},
			variant{Work: refreshes, How: "KeepAlive stream", open: g.keepAlive(1)},
			variant{Work: refreshes, How: "Refresh", open: ready(g.refresh)},
			variant{Work: tokens, How: "KeepAlive stream", open: g.keepAlive(tokensPerFrame), maxCallers: frameStreams})
	}
	for i := range all {
		all[i].System, all[i].Servers, all[i].Store, all[i].TLS = gatekeeperName, opts.Count, store, opts.Secure != nil
	}
	// Pairs are an upper bound for tasks on the same servers, because every task requires at least an acquire and a
	// release.
	all = append(all, variant{Work: tasks, System: ownPairs, Servers: opts.Count, Store: store, TLS: opts.Secure != nil, open: ready(g.pair)})
	s := &system{variants: all, stop: g.close}
	for _, server := range cluster.Servers {
		s.processes = append(s.processes, server.PID())
	}
	return s, nil
}

func (g *gatekeeper) close() {
	g.conns.Close()
	g.cluster.Kill()
}

// prepare creates the semaphores. If refreshed is set, it also acquires the permits that denials and refreshes need.
func (g *gatekeeper) prepare(ctx context.Context, refreshed bool) error {
	leader, err := g.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	if g.conns, err = load.DialWith(leader.API, g.creds); err != nil {
		return err
	}
	var edits []*gatekeeperv1.Edit
	create := func(name string, permits uint32) {
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{
			Create: &gatekeeperv1.Definition{Name: name, Permits: &permits, Duration: durationpb.New(long)},
		}})
	}
	create("held", 1)
	create("wide", 1_000_000)
	for caller := range g.tokens {
		create(ownKey(caller), 1)
	}
	if _, err := gatekeeperv1.NewDefinitionServiceClient(g.conns.ForCaller(0)).BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "bench"}); err != nil {
		return err
	}
	if !refreshed {
		return nil
	}
	if _, err := g.acquire(ctx, 0, "held", "holder"); err != nil {
		return err
	}
	acquiring, ctx := errgroup.WithContext(ctx)
	for caller := range g.tokens {
		permits := 1
		if caller < frameStreams {
			permits = tokensPerFrame
		}
		acquiring.Go(func() error {
			for i := range permits {
				token, err := g.acquire(ctx, caller, "wide", strconv.Itoa(i))
				if err != nil {
					return err
				}
				g.tokens[caller] = append(g.tokens[caller], token)
			}
			return nil
		})
	}
	return acquiring.Wait()
}

func ownKey(caller int) string { return "own/" + strconv.Itoa(caller) }

func (g *gatekeeper) stub(caller int) gatekeeperv1.PermitServiceClient {
	return gatekeeperv1.NewPermitServiceClient(g.conns.ForCaller(caller))
}

func (g *gatekeeper) tryAcquire(ctx context.Context, caller int, semaphore, holder string) (*gatekeeperv1.TryAcquireResponse, error) {
	return g.stub(caller).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: semaphore,
		Identity:  &gatekeeperv1.Identity{Group: "bench", Acquirer: "caller-" + strconv.Itoa(caller), HolderId: holder},
	})
}

// acquire acquires a permit. A denial is an error.
func (g *gatekeeper) acquire(ctx context.Context, caller int, semaphore, holder string) (uint64, error) {
	resp, err := g.tryAcquire(ctx, caller, semaphore, holder)
	if err != nil {
		return 0, err
	}
	if resp.GetGrant() == nil {
		return 0, fmt.Errorf("a permit for %s was denied: %s", semaphore, resp.GetDenial().GetMessage())
	}
	return resp.GetGrant().Permit.Token, nil
}

func (g *gatekeeper) pair(ctx context.Context, caller int) (int, error) {
	token, err := g.acquire(ctx, caller, ownKey(caller), "")
	if err != nil {
		return 0, err
	}
	resp, err := g.stub(caller).Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token})
	if err == nil && !resp.Released {
		err = fmt.Errorf("not released: %s", resp.Message)
	}
	return 1, err
}

func (g *gatekeeper) denial(ctx context.Context, caller int) (int, error) {
	resp, err := g.tryAcquire(ctx, caller, "held", "")
	if err == nil && resp.GetDenial().GetReason() != gatekeeperv1.Reason_REASON_NO_FREE_PERMIT {
		err = fmt.Errorf("got %v, want a denial because no permit is free", resp)
	}
	return 1, err
}

func (g *gatekeeper) refresh(ctx context.Context, caller int) (int, error) {
	one := &gatekeeperv1.TokenRefresh{Token: g.tokens[caller][0], Duration: durationpb.New(long)}
	resp, err := g.stub(caller).Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{one}})
	if err != nil {
		return 0, err
	}
	if len(resp.Results) != 1 || resp.Results[0].Status != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		return 0, fmt.Errorf("not refreshed: %v", resp)
	}
	return 1, nil
}

// keepAlive opens one stream per caller. Each call sends a frame with up to perFrame tokens and waits for the response.
func (g *gatekeeper) keepAlive(perFrame int) func(context.Context, int) (load.Call, func(), error) {
	return func(ctx context.Context, callers int) (load.Call, func(), error) {
		ctx, cancel := context.WithCancel(ctx)
		streams := make([]grpc.BidiStreamingClient[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse], callers)
		frames := make([]uint64, callers)
		for caller := range streams {
			var err error
			if streams[caller], err = g.stub(caller).KeepAlive(ctx); err != nil {
				cancel()
				return nil, nil, err
			}
		}
		return func(_ context.Context, caller int) (int, error) {
			frames[caller]++
			mine := g.tokens[caller][:min(perFrame, len(g.tokens[caller]))]
			group := &gatekeeperv1.TokenGroup{Duration: durationpb.New(long), Tokens: mine}
			frame := &gatekeeperv1.KeepAliveRequest{Frame: frames[caller], Grouped: true, Groups: []*gatekeeperv1.TokenGroup{group}}
			if err := streams[caller].Send(frame); err != nil {
				return 0, err
			}
			resp, err := streams[caller].Recv()
			if err != nil {
				return 0, err
			}
			if resp.Frame != frames[caller] {
				return 0, fmt.Errorf("the response to frame %d was %v", frames[caller], resp)
			}
			if len(resp.Results) != 0 || len(resp.Refreshed) != 1 || len(resp.Refreshed[0].Tokens) != len(mine) {
				return 0, fmt.Errorf("not refreshed: %v", resp)
			}
			return len(mine), nil
		}, cancel, nil
	}
}
