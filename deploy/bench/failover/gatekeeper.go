package failover

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Gatekeeper implements Cluster with three Gatekeeper servers.
type Gatekeeper struct {
	cluster  *servers.Cluster
	client   *client.Client
	requests atomic.Int64
}

// wide is a semaphore with a free permit for every caller.
const wide = "wide"

// StartGatekeeper starts three servers that use profile and keep their data in dir.
func StartGatekeeper(ctx context.Context, binary, dir, profile string) (*Gatekeeper, error) {
	cluster, err := servers.Start(ctx, servers.Options{Binary: binary, Dir: filepath.Join(dir, profile), Count: count, Profile: profile})
	if err != nil {
		return nil, err
	}
	g := &Gatekeeper{cluster: cluster}
	if g.client, err = client.Dial(ctx, cluster.Endpoints(), client.WithGroup("bench"), client.WithAcquirer("client")); err != nil {
		g.Close()
		return nil, err
	}
	permits := uint32(1_000_000)
	_, err = g.client.Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Author: "bench", Edits: []*gatekeeperv1.Edit{
		{Change: &gatekeeperv1.Edit_Create{Create: &gatekeeperv1.Definition{Name: wide, Permits: &permits, Duration: durationpb.New(time.Hour)}}},
	}})
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Close kills the servers.
func (g *Gatekeeper) Close() {
	if g.client != nil {
		_ = g.client.Close() // an error does not matter, because the permits are no longer needed
	}
	g.cluster.Kill()
}

// Leader implements Cluster.
func (g *Gatekeeper) Leader(ctx context.Context) (int, error) {
	leader, err := g.cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	return slices.Index(g.cluster.Servers, leader), nil
}

// Kill implements Cluster.
func (g *Gatekeeper) Kill(server int) { g.cluster.Servers[server].Kill() }

// Restart implements Cluster.
func (g *Gatekeeper) Restart(ctx context.Context, server int) error {
	s := g.cluster.Servers[server]
	if err := s.Start(); err != nil {
		return err
	}
	if err := s.Ready(ctx); err != nil {
		return err
	}
	leader, err := g.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	leaderStatus, err := leader.Status(ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(requestInterval)
	defer tick.Stop()
	for {
		status, err := s.Status(ctx)
		if err == nil && status.LeaderId == leader.ID && status.AppliedIndex >= leaderStatus.AppliedIndex {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("its status is %v, but the leader was at index %d", status, leaderStatus.AppliedIndex), err)
		}
	}
}

// Acquire implements Cluster with the generated stub.
func (g *Gatekeeper) Acquire(ctx context.Context, server int) error {
	conn, err := g.cluster.Servers[server].Conn()
	if err != nil {
		return err
	}
	resp, err := gatekeeperv1.NewPermitServiceClient(conn).TryAcquire(ctx, &gatekeeperv1.TryAcquireRequest{
		Semaphore: wide,
		Identity:  &gatekeeperv1.Identity{Group: "bench", Acquirer: "stub", HolderId: strconv.FormatInt(g.requests.Add(1), 10)},
	})
	if err == nil && resp.GetGrant() == nil {
		err = fmt.Errorf("a permit for %s was denied: %s", wide, resp.GetDenial().GetMessage())
	}
	return err
}

// AcquireAny implements Cluster with the client library, which keeps the permit.
func (g *Gatekeeper) AcquireAny(ctx context.Context) error {
	_, err := g.client.Semaphore(wide).TryAcquire(ctx)
	return err
}
