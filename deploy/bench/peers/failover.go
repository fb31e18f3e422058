package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/gatekeeperd/gatekeeper/deploy/bench/failover"
)

// Names of the etcd contestants, with their heartbeat intervals and election timeouts. The first has etcd's defaults,
// and the others have the timeouts of Gatekeeper's two profiles.
const (
	etcdDefaults    = "etcd, 100/1000 ms"
	etcdLikeDefault = "etcd, 80/800 ms"
	etcdLikeFast    = "etcd, 40/400 ms"
)

func failoverTargets() []failover.Target {
	return append(failover.Targets(),
		failover.Target{Name: failover.Default, Other: etcdLikeDefault}, failover.Target{Name: failover.Fast, Other: etcdLikeFast})
}

// measureFailover alternately kills the leaders of Gatekeeper and etcd clusters.
func (b *bench) measureFailover(ctx context.Context) ([]failover.Result, error) {
	var contestants []failover.Contestant
	for _, c := range []struct{ name, profile string }{{failover.Default, "default"}, {failover.Fast, "fast"}} {
		g, err := failover.StartGatekeeper(ctx, filepath.Join(b.bin, "gatekeeperd"), filepath.Join(b.dir, "failover"), c.profile)
		if err != nil {
			return nil, err
		}
		defer g.Close()
		contestants = append(contestants, failover.Contestant{Name: c.name, Cluster: g})
	}
	for _, c := range []struct {
		name, dir string
		timing    timing
	}{
		{etcdDefaults, "etcd", timing{}},
		{etcdLikeDefault, "etcd-default", timing{HeartbeatMs: 80, ElectionMs: 800}},
		{etcdLikeFast, "etcd-fast", timing{HeartbeatMs: 40, ElectionMs: 400}},
	} {
		e, err := startEtcd(ctx, filepath.Join(b.dir, "failover", c.dir), 3, c.timing)
		if err != nil {
			return nil, err
		}
		defer e.close()
		k := &killable{etcd: e}
		if k.all, err = newEtcdClient(e.endpoints()...); err != nil {
			return nil, err
		}
		defer k.all.Close()
		lease, err := k.all.Grant(ctx, leaseSeconds)
		if err != nil {
			return nil, err
		}
		k.lease = lease.ID
		contestants = append(contestants, failover.Contestant{Name: c.name, Cluster: k})
	}
	return failover.Measure(ctx, contestants, b.runs)
}

// killable implements failover.Cluster for an etcd cluster.
type killable struct {
	*etcd
	all      *clientv3.Client
	lease    clientv3.LeaseID
	requests atomic.Int64
}

// Leader implements failover.Cluster.
func (k *killable) Leader(ctx context.Context) (int, error) { return k.leader(ctx) }

// Kill implements failover.Cluster.
func (k *killable) Kill(server int) { k.processes[server].kill() }

// Restart implements failover.Cluster. The server has caught up once it responds to a linearizable read.
func (k *killable) Restart(ctx context.Context, server int) error {
	p, err := k.start(server)
	if err != nil {
		return err
	}
	k.processes[server] = p
	return k.awaitReady(ctx, server)
}

// Acquire implements failover.Cluster.
func (k *killable) Acquire(ctx context.Context, server int) error {
	return k.acquire(ctx, k.direct[server])
}

// libraryTimeout bounds one attempt with etcd's client. Without it, a request in flight to a leader that dies would
// return only after seven seconds.
const libraryTimeout = time.Second

// AcquireAny implements failover.Cluster. etcd's client chooses among all servers, but does not retry writes.
func (k *killable) AcquireAny(ctx context.Context) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, libraryTimeout)
		err := k.acquire(attempt, k.all)
		cancel()
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
	}
}

// acquire creates a key with a unique name.
func (k *killable) acquire(ctx context.Context, c *clientv3.Client) error {
	key := "asked/" + strconv.FormatInt(k.requests.Add(1), 10)
	resp, err := c.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "bench", clientv3.WithLease(k.lease))).
		Commit()
	if err == nil && !resp.Succeeded {
		err = fmt.Errorf("%s already exists", key)
	}
	return err
}
