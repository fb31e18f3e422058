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

// core holds the results for one cluster size.
type core struct {
	Servers   int           `json:"servers"`
	Denials   []load.Figure `json:"denials"`
	Refreshes []load.Figure `json:"refreshes"`
	// Messages counts refreshes on streams with one token per frame. Tokens is the same with many tokens per frame.
	Messages []load.Figure `json:"refreshes_by_stream"`
	Tokens   []load.Figure `json:"tokens_by_stream"`
	Pairs    []load.Figure `json:"pairs"`
	// Batched compares denials in one client's batches with denials in separate calls.
	Batched []batched `json:"denials_in_batches"`
	// Entries is computed from the leader's counters during the Pairs windows, for each number of callers.
	Entries []commandsPerEntry `json:"entries"`
}

// commandsPerEntry is the number of commands per log entry.
type commandsPerEntry struct {
	Callers  int     `json:"callers"`
	Commands float64 `json:"commands"`
	Entries  float64 `json:"entries"`
	PerEntry float64 `json:"commands_in_one_entry"`
}

// permitDuration is the duration of permits, which must not expire during a measurement.
const permitDuration = time.Hour

// measureCore starts a cluster and measures the leader's operations.
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
	if err := define(ctx, conns.ForCaller(0), b.maxCallers()); err != nil {
		return nil, err
	}
	t, err := b.newWorkloads(ctx, leader, conns)
	if err != nil {
		return nil, err
	}
	defer t.close()
	result := &core{Servers: count}
	if result.Denials, err = b.measureDenials(ctx, leader, t); err != nil {
		return nil, fmt.Errorf("denials: %w", err)
	}
	if err := b.recordCallers(ctx, leader, conns); err != nil {
		return nil, err
	}
	if result.Batched, err = b.measureBatched(ctx, leader, conns); err != nil {
		return nil, fmt.Errorf("denials in batches: %w", err)
	}
	if err := b.measureRefreshes(ctx, leader, t, result); err != nil {
		return nil, fmt.Errorf("refreshes: %w", err)
	}
	if err := b.measurePairs(ctx, leader, t, result); err != nil {
		return nil, fmt.Errorf("pairs: %w", err)
	}
	return result, nil
}

// start starts a cluster with its data in a directory with the given name, and finds its leader. The caller must kill
// the cluster.
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

// define creates the semaphores that the workloads do not create: one per caller, one whose permit is held, and one
// with enough permits for the keep part.
func define(ctx context.Context, conn *grpc.ClientConn, callers int) error {
	wide := uint32(1_000_000)
	edits := []*gatekeeperv1.Edit{
		{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: "held", Duration: durationpb.New(permitDuration)}}},
		{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: "kept", Permits: &wide, Duration: durationpb.New(keepDuration)}}},
	}
	for i := range callers {
		def := &gatekeeperv1.Definition{Name: ownName(i), Duration: durationpb.New(permitDuration)}
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: def}})
	}
	_, err := gatekeeperv1.NewDefinitionServiceClient(conn).BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "bench"})
	return err
}

func ownName(caller int) string { return "own/" + strconv.Itoa(caller) }

func identity(caller int, holder string) *gatekeeperv1.Identity {
	return &gatekeeperv1.Identity{Group: "bench", Acquirer: "caller-" + strconv.Itoa(caller), HolderId: holder}
}

// acquire acquires a permit. A denial is an error.
func acquire(ctx context.Context, conn *grpc.ClientConn, semaphore string, id *gatekeeperv1.Identity) (uint64, error) {
	resp, err := gatekeeperv1.NewPermitServiceClient(conn).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{Semaphore: semaphore, Identity: id})
	if err != nil {
		return 0, err
	}
	if resp.GetGrant() == nil {
		return 0, fmt.Errorf("a permit for %s was denied: %s", semaphore, resp.GetDenial().GetMessage())
	}
	return resp.GetGrant().Permit.Token, nil
}

// measureDenials requests a permit that another identity holds.
func (b *bench) measureDenials(ctx context.Context, leader *servers.Server, t *workloads) (figures []load.Figure, err error) {
	return figures, t.withWorkload(ctx, "deny", b.maxCallers(), 1, func(call load.Call) error {
		// The leader records new callers in the log in the background. Denials do not wait for that, and it is not part
		// of the measurement.
		for caller := range min(b.maxCallers(), load.Shared) { // each connection uses a different acquirer
			if _, err := call(ctx, caller); err != nil {
				return err
			}
		}
		if err := awaitQuiet(ctx, leader); err != nil {
			return err
		}
		return withoutWrites(ctx, leader, func() (err error) {
			figures, err = b.each(ctx, call)
			return err
		})
	})
}

// recordCallers acquires the permit that the batched denials request, and makes the leader record their callers.
func (b *bench) recordCallers(ctx context.Context, leader *servers.Server, conns load.Conns) error {
	if _, err := acquire(ctx, conns.ForCaller(0), "held", &gatekeeperv1.Identity{Group: "bench", Acquirer: "holder"}); err != nil {
		return err
	}
	for caller := range b.maxCallers() {
		if _, err := denial(ctx, gatekeeperv1.NewPermitServiceClient(conns.ForCaller(caller)), caller); err != nil {
			return err
		}
	}
	return awaitQuiet(ctx, leader)
}

// measureRefreshes refreshes one permit per call, one permit per stream frame, and many permits per stream frame.
func (b *bench) measureRefreshes(ctx context.Context, leader *servers.Server, t *workloads, result *core) error {
	for _, work := range []struct {
		kind            string
		tokens, callers int
		figures         *[]load.Figure
	}{
		{"refresh", 1, b.maxCallers(), &result.Refreshes},
		{"stream", 1, b.maxCallers(), &result.Messages},
		{"stream", tokensPerFrame, min(b.maxCallers(), 64), &result.Tokens},
	} {
		err := t.withWorkload(ctx, work.kind, work.callers, work.tokens, func(call load.Call) error {
			return withoutWrites(ctx, leader, func() error {
				for _, callers := range b.callers {
					if callers > work.callers {
						continue
					}
					f, err := b.windows.loop(ctx, callers, call)
					if err != nil {
						return err
					}
					*work.figures = append(*work.figures, f)
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measurePairs measures acquire/release pairs, with a separate semaphore for each caller.
func (b *bench) measurePairs(ctx context.Context, leader *servers.Server, t *workloads, result *core) error {
	return t.withWorkload(ctx, "acquire", b.maxCallers(), 1, func(call load.Call) error {
		for _, callers := range b.callers {
			before, err := scrape(ctx, leader)
			if err != nil {
				return err
			}
			f, err := b.windows.loop(ctx, callers, call)
			if err != nil {
				return err
			}
			after, err := scrape(ctx, leader)
			if err != nil {
				return err
			}
			commands, entries := after.commands-before.commands, after.entries-before.entries
			if entries <= 0 || commands < entries {
				return fmt.Errorf("the leader counted %v commands in %v entries for acquires and releases: its counters are wrong", commands, entries)
			}
			result.Pairs = append(result.Pairs, f)
			result.Entries = append(result.Entries, commandsPerEntry{callers, commands, entries, commands / entries})
		}
		return nil
	})
}
