package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// etcd is an etcd cluster whose servers are separate processes.
type etcd struct {
	members   []member
	processes []*process
	direct    []*clientv3.Client // one per server
}

// startEtcd starts a cluster with the given number of servers and their data in dir, and waits until all of them
// respond.
func startEtcd(ctx context.Context, dir string, count int, t timing) (*etcd, error) {
	free, err := ports.Free(2 * count)
	if err != nil {
		return nil, err
	}
	e := &etcd{}
	var cluster []string
	for i := range count {
		name := fmt.Sprintf("etcd%d", i+1)
		e.members = append(e.members, member{Name: name, Dir: filepath.Join(dir, name), Client: free[2*i], Peer: free[2*i+1], Timing: t})
		cluster = append(cluster, name+"=http://"+free[2*i+1])
	}
	for i := range e.members {
		e.members[i].Cluster = strings.Join(cluster, ",")
		if err := os.MkdirAll(e.members[i].Dir, 0o700); err != nil {
			return nil, err
		}
		p, err := e.start(i)
		if err != nil {
			e.close()
			return nil, err
		}
		e.processes = append(e.processes, p)
		c, err := newEtcdClient(e.members[i].Client)
		if err != nil {
			e.close()
			return nil, err
		}
		e.direct = append(e.direct, c)
	}
	for i := range e.members {
		if err := e.awaitReady(ctx, i); err != nil {
			e.close()
			return nil, err
		}
	}
	return e, nil
}

func (e *etcd) start(i int) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(e.members[i])
	if err != nil {
		return nil, err
	}
	return run(e.members[i].Name, e.members[i].Dir, nil, self, "-etcd", string(text))
}

// awaitReady waits until a server responds to a linearizable read.
func (e *etcd) awaitReady(ctx context.Context, i int) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, time.Second)
		_, err := e.direct[i].Get(attempt, "none")
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-e.processes[i].done:
			return e.processes[i].failed(errors.New("the server did not become ready"))
		case <-ctx.Done():
			return e.processes[i].failed(errors.Join(ctx.Err(), err))
		}
	}
}

// leader returns the index of the leader.
func (e *etcd) leader(ctx context.Context) (int, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for i, c := range e.direct {
			attempt, cancel := context.WithTimeout(ctx, time.Second)
			status, err := c.Status(attempt, e.members[i].Client)
			cancel()
			if err == nil && status.Leader == status.Header.MemberId {
				return i, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("etcd has no leader: %w", ctx.Err())
		}
	}
}

// endpoints returns the addresses of all servers.
func (e *etcd) endpoints() []string {
	var all []string
	for _, m := range e.members {
		all = append(all, m.Client)
	}
	return all
}

func (e *etcd) close() {
	for _, c := range e.direct {
		_ = c.Close()
	}
	for _, p := range e.processes {
		p.kill()
	}
}

// newEtcdClient returns an etcd client with logging disabled.
func newEtcdClient(endpoints ...string) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
}
