package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"golang.org/x/sync/errgroup"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// leaseSeconds is the TTL of etcd's leases, which must not expire during a measurement.
const leaseSeconds = 3600

// etcdSystem is an etcd cluster to measure. Requests go to its leader, over as many connections as for Gatekeeper.
type etcdSystem struct {
	cluster *etcd
	clients []*clientv3.Client
	leases  []clientv3.LeaseID // one per caller
}

// newEtcdSystem starts a cluster for at most the given number of callers.
func newEtcdSystem(ctx context.Context, dir string, count, callers int) (*system, error) {
	cluster, err := startEtcd(ctx, dir, count, timing{})
	if err != nil {
		return nil, err
	}
	e := &etcdSystem{cluster: cluster, leases: make([]clientv3.LeaseID, callers)}
	if err := e.prepare(ctx); err != nil {
		e.close()
		return nil, err
	}
	all := []variant{
		{Work: pairs, How: "Txn, Delete", open: ready(e.pair)},
		{Work: pairs, How: "Mutex.TryLock, Unlock", open: e.mutexes},
		{Work: denials, How: "Txn that fails", open: ready(e.denial)},
		{Work: denials, How: "linearizable Get", open: ready(e.get)},
		{Work: refreshes, How: "LeaseKeepAlive stream", open: e.keepAlive},
	}
	for i := range all {
		all[i].System, all[i].Servers = "etcd", count
	}
	return &system{version: "etcd " + version.Version, variants: all, processes: pids(cluster.processes...), stop: e.close}, nil
}

func (e *etcdSystem) prepare(ctx context.Context) error {
	leader, err := e.cluster.leader(ctx)
	if err != nil {
		return err
	}
	for range load.Shared {
		c, err := newEtcdClient(e.cluster.members[leader].Client)
		if err != nil {
			return err
		}
		e.clients = append(e.clients, c)
	}
	if _, err := e.clientFor(0).Put(ctx, "held", "holder"); err != nil {
		return err
	}
	granting, ctx := errgroup.WithContext(ctx)
	granting.SetLimit(16)
	for caller := range e.leases {
		granting.Go(func() error {
			lease, err := e.clientFor(caller).Grant(ctx, leaseSeconds)
			if err == nil {
				e.leases[caller] = lease.ID
			}
			return err
		})
	}
	return granting.Wait()
}

func (e *etcdSystem) clientFor(caller int) *clientv3.Client { return e.clients[caller%len(e.clients)] }

func (e *etcdSystem) close() {
	for _, c := range e.clients {
		_ = c.Close()
	}
	e.cluster.close()
}

// create acquires a permit by putting a key that must not exist yet.
func (e *etcdSystem) create(ctx context.Context, caller int, key string) (bool, error) {
	resp, err := e.clientFor(caller).Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "caller-"+strconv.Itoa(caller), clientv3.WithLease(e.leases[caller]))).
		Commit()
	if err != nil {
		return false, err
	}
	return resp.Succeeded, nil
}

func (e *etcdSystem) pair(ctx context.Context, caller int) (int, error) {
	key := ownKey(caller)
	granted, err := e.create(ctx, caller, key)
	if err != nil {
		return 0, err
	}
	if !granted {
		return 0, fmt.Errorf("%s already exists", key)
	}
	resp, err := e.clientFor(caller).Delete(ctx, key)
	if err == nil && resp.Deleted != 1 {
		err = fmt.Errorf("%d keys were deleted, want 1", resp.Deleted)
	}
	return 1, err
}

// mutexes creates a separate mutex for each caller. Callers on the same connection share a session.
func (e *etcdSystem) mutexes(ctx context.Context, callers int) (load.Call, func(), error) {
	var sessions []*concurrency.Session
	closeAll := func() {
		for _, s := range sessions {
			_ = s.Close() // no mutex is locked anymore
		}
	}
	for _, c := range e.clients {
		s, err := concurrency.NewSession(c, concurrency.WithContext(ctx))
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		sessions = append(sessions, s)
	}
	all := make([]*concurrency.Mutex, callers)
	for caller := range all {
		all[caller] = concurrency.NewMutex(sessions[caller%len(sessions)], "mutex/"+strconv.Itoa(caller))
	}
	return func(ctx context.Context, caller int) (int, error) {
		if err := all[caller].TryLock(ctx); err != nil {
			return 0, err
		}
		return 1, all[caller].Unlock(ctx)
	}, closeAll, nil
}

func (e *etcdSystem) denial(ctx context.Context, caller int) (int, error) {
	granted, err := e.create(ctx, caller, "held")
	if err == nil && granted {
		err = errors.New("the held key was granted again")
	}
	return 1, err
}

func (e *etcdSystem) get(ctx context.Context, caller int) (int, error) {
	resp, err := e.clientFor(caller).Get(ctx, "held")
	if err == nil && resp.Count != 1 {
		err = fmt.Errorf("%d held keys, want 1", resp.Count)
	}
	return 1, err
}

// keepAlive opens one stream per caller, each with a separate lease, and sends a message as soon as the response to the
// previous one arrives. etcd's client would send one only every twenty minutes.
func (e *etcdSystem) keepAlive(ctx context.Context, callers int) (load.Call, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	streams := make([]etcdserverpb.Lease_LeaseKeepAliveClient, callers)
	for caller := range streams {
		var err error
		if streams[caller], err = etcdserverpb.NewLeaseClient(e.clientFor(caller).ActiveConnection()).LeaseKeepAlive(ctx); err != nil {
			cancel()
			return nil, nil, err
		}
	}
	return func(_ context.Context, caller int) (int, error) {
		if err := streams[caller].Send(&etcdserverpb.LeaseKeepAliveRequest{ID: int64(e.leases[caller])}); err != nil {
			return 0, err
		}
		resp, err := streams[caller].Recv()
		if err == nil && resp.TTL != leaseSeconds {
			err = fmt.Errorf("got a TTL of %d s, want %d", resp.TTL, leaseSeconds)
		}
		return 1, err
	}, cancel, nil
}
