package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// core is what a cluster of one size reached.
type core struct {
	Servers   int           `json:"servers"`
	Denials   []load.Figure `json:"denials"`
	Refreshes []load.Figure `json:"refreshes"`
	// Messages is refreshes by stream with one token a frame, Tokens with many.
	Messages []load.Figure `json:"refreshes_by_stream"`
	Tokens   []load.Figure `json:"tokens_by_stream"`
	Pairs    []load.Figure `json:"pairs"`
	// Denials by the batches of one client, beside those by separate calls.
	Batched []batched `json:"denials_in_batches"`
	// What the leader's own counters say of these windows, at each number of callers.
	Entries []shared `json:"entries"`
}

// shared says how many commands one log entry carried.
type shared struct {
	Callers  int     `json:"callers"`
	Commands float64 `json:"commands"`
	Entries  float64 `json:"entries"`
	InOne    float64 `json:"commands_in_one_entry"`
}

// tokensInFrame is how many permits one frame of a stream refreshes.
const tokensInFrame = 100

// long is the permits' duration: none expires while it is measured.
const long = time.Hour

// measureCore starts a cluster and measures what callers ask of its leader.
func (b *bench) measureCore(ctx context.Context, count int) (*core, error) {
	cluster, leader, err := b.start(ctx, strconv.Itoa(count), count)
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	conns, err := load.Dial(leader.API)
	if err != nil {
		return nil, err
	}
	defer conns.Close()
	if err := define(ctx, conns.Of(0), b.most()); err != nil {
		return nil, err
	}
	result := &core{Servers: count}
	if result.Denials, err = b.measureDenials(ctx, leader, conns); err != nil {
		return nil, fmt.Errorf("denials: %w", err)
	}
	if result.Batched, err = b.measureBatched(ctx, leader, conns); err != nil {
		return nil, fmt.Errorf("denials in batches: %w", err)
	}
	if err := b.measureRefreshes(ctx, leader, conns, result); err != nil {
		return nil, fmt.Errorf("refreshes: %w", err)
	}
	if err := b.measurePairs(ctx, leader, conns, result); err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	return result, nil
}

// start starts a cluster with its data in a folder of that name, and finds its leader. The caller kills it.
func (b *bench) start(ctx context.Context, name string, count int) (*servers.Cluster, *servers.Server, error) {
	return b.startIn(ctx, filepath.Join(b.dir, name), count)
}

func (b *bench) startIn(ctx context.Context, dir string, count int) (*servers.Cluster, *servers.Server, error) {
	cluster, err := servers.Start(ctx, servers.Options{
		Binary: filepath.Join(b.bin, "gatekeeperd"),
		Dir:    dir,
		Count:  count,

		LogStore: b.store,
	})
	if err != nil {
		return nil, nil, err
	}
	leader, err := cluster.Leader(ctx)
	if err != nil {
		cluster.Kill()
		return nil, nil, err
	}
	return cluster, leader, nil
}

// define makes a semaphore for each caller, one that is held, and two wide enough for every stream and for every permit to keep.
func define(ctx context.Context, conn *grpc.ClientConn, callers int) error {
	wide := uint32(1_000_000)
	edits := []*gatekeeperv1.Edit{
		{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: "held", Duration: durationpb.New(long)}}},
		{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: "wide", Permits: &wide, Duration: durationpb.New(long)}}},
		{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: "kept", Permits: &wide, Duration: durationpb.New(keepDuration)}}},
	}
	for i := range callers {
		def := &gatekeeperv1.Definition{Name: own(i), Duration: durationpb.New(long)}
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: def}})
	}
	_, err := gatekeeperv1.NewDefinitionServiceClient(conn).BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "bench"})
	return err
}

func own(caller int) string { return "own/" + strconv.Itoa(caller) }

func identity(caller int, holder string) *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: "bench", Acquirer: "caller-" + strconv.Itoa(caller), HolderId: holder}
}

// acquire takes a permit, and fails when it is denied.
func acquire(ctx context.Context, conn *grpc.ClientConn, semaphore string, id *gatekeeperv1.Identity) (uint64, error) {
	answer, err := gatekeeperv1.NewPermitServiceClient(conn).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: semaphore, Identity: id})
	if err != nil {
		return 0, err
	}
	if answer.GetGrant() == nil {
		return 0, fmt.Errorf("%s was denied: %s", semaphore, answer.GetDenial().GetMessage())
	}
	return answer.GetGrant().Permit.Token, nil
}

// measureDenials asks for a semaphore that somebody else holds.
func (b *bench) measureDenials(ctx context.Context, leader *servers.Server, conns load.Conns) ([]load.Figure, error) {
	if _, err := acquire(ctx, conns.Of(0), "held", &gatekeeperv1.Identity{Group: "bench", Acquirer: "holder"}); err != nil {
		return nil, err
	}
	ask := func(ctx context.Context, caller int) (int, error) {
		return denial(ctx, gatekeeperv1.NewPermitServiceClient(conns.Of(caller)), caller)
	}
	// A caller who is new is noted in the log, in the background: no denial waits for it, and it is not what is measured.
	for caller := range b.most() {
		if _, err := ask(ctx, caller); err != nil {
			return nil, err
		}
	}
	if err := settled(ctx, leader); err != nil {
		return nil, err
	}
	var figures []load.Figure
	err := unwritten(ctx, leader, func() (err error) {
		figures, err = b.each(ctx, ask)
		return err
	})
	return figures, err
}

// measureRefreshes refreshes one permit a call, one permit a frame by streams, and many permits a frame.
func (b *bench) measureRefreshes(ctx context.Context, leader *servers.Server, conns load.Conns, result *core) error {
	streams := min(b.most(), 64)
	tokens := make([][]uint64, b.most())
	for caller := range tokens {
		permits := 1
		if caller < streams {
			permits = tokensInFrame
		}
		for i := range permits {
			token, err := acquire(ctx, conns.Of(caller), "wide", identity(caller, strconv.Itoa(i)))
			if err != nil {
				return err
			}
			tokens[caller] = append(tokens[caller], token)
		}
	}
	return unwritten(ctx, leader, func() (err error) {
		result.Refreshes, err = b.each(ctx, func(ctx context.Context, caller int) (int, error) {
			one := &gatekeeperv1.TokenRefresh{Token: tokens[caller][0], Duration: durationpb.New(long)}
			answer, err := gatekeeperv1.NewPermitServiceClient(conns.Of(caller)).Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{one}})
			if err != nil {
				return 0, err
			}
			if len(answer.Results) != 1 || answer.Results[0].Status != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
				return 0, fmt.Errorf("not refreshed: %v", answer)
			}
			return 1, nil
		})
		if err != nil {
			return err
		}
		for _, callers := range b.callers {
			f, err := b.stream(ctx, conns, callers, 1, tokens)
			if err != nil {
				return err
			}
			result.Messages = append(result.Messages, f)
			if callers > streams {
				continue
			}
			f, err = b.stream(ctx, conns, callers, tokensInFrame, tokens)
			if err != nil {
				return err
			}
			result.Tokens = append(result.Tokens, f)
		}
		return nil
	})
}

// stream opens one stream a caller and sends a frame of so many tokens when the one before has been answered.
func (b *bench) stream(ctx context.Context, conns load.Conns, callers, inFrame int, tokens [][]uint64) (load.Figure, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	call, err := framesOf(ctx, conns, callers, inFrame, tokens)
	if err != nil {
		return load.Figure{}, err
	}
	return b.windows.loop(ctx, callers, call)
}

// framesOf opens one stream a caller, which end with ctx, and returns a call that sends a frame of so many tokens and waits until it is
// answered.
func framesOf(ctx context.Context, conns load.Conns, callers, inFrame int, tokens [][]uint64) (load.Call, error) {
	open := make([]grpc.BidiStreamingClient[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse], callers)
	for caller := range open {
		var err error
		if open[caller], err = gatekeeperv1.NewPermitServiceClient(conns.Of(caller)).KeepAlive(ctx); err != nil {
			return nil, err
		}
	}
	frames := make([]uint64, callers)
	return func(_ context.Context, caller int) (int, error) {
		frames[caller]++
		group := &gatekeeperv1.TokenGroup{Duration: durationpb.New(long), Tokens: tokens[caller][:inFrame]}
		frame := &gatekeeperv1.KeepAliveRequest{Frame: frames[caller], Grouped: true, Groups: []*gatekeeperv1.TokenGroup{group}}
		if err := open[caller].Send(frame); err != nil {
			return 0, err
		}
		answer, err := open[caller].Recv()
		if err != nil {
			return 0, err
		}
		if answer.Frame != frames[caller] {
			return 0, fmt.Errorf("frame %d was answered by %v", frames[caller], answer)
		}
		if len(answer.Results) != 0 || len(answer.Refreshed) != 1 || len(answer.Refreshed[0].Tokens) != inFrame {
			return 0, fmt.Errorf("not refreshed: %v", answer)
		}
		return inFrame, nil
	}, nil
}

// measurePairs acquires and releases, each caller a semaphore of its own.
func (b *bench) measurePairs(ctx context.Context, leader *servers.Server, conns load.Conns, result *core) error {
	for _, callers := range b.callers {
		before, err := scrape(ctx, leader)
		if err != nil {
			return err
		}
		f, err := b.windows.loop(ctx, callers, pairOf(conns))
		if err != nil {
			return err
		}
		after, err := scrape(ctx, leader)
		if err != nil {
			return err
		}
		commands, entries := after.commands-before.commands, after.entries-before.entries
		if entries <= 0 || commands < entries {
			return fmt.Errorf("the leader counts %v commands in %v entries for acquires and releases: its counters are wrong", commands, entries)
		}
		result.Pairs = append(result.Pairs, f)
		result.Entries = append(result.Entries, shared{callers, commands, entries, commands / entries})
	}
	return nil
}

// pairOf is an acquire and a release.
func pairOf(conns load.Conns) load.Call {
	return func(ctx context.Context, caller int) (int, error) {
		token, err := acquire(ctx, conns.Of(caller), own(caller), identity(caller, ""))
		if err != nil {
			return 0, err
		}
		answer, err := gatekeeperv1.NewPermitServiceClient(conns.Of(caller)).Release(ctx, &gatekeeperv1.ReleaseRequest{Token: token})
		if err == nil && !answer.Released {
			err = fmt.Errorf("not released: %s", answer.Message)
		}
		return 1, err
	}
}
