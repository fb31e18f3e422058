package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// member is a member of the cluster: a machine, its disk, and the server running on it.
type member struct {
	world  *world
	id     string
	disk   *disk
	memory *consensus.Memory

	// changing holds a value unless the server is being started or stopped. It is not a mutex, because waiting for a
	// mutex stops the bubble's clock.
	changing chan struct{}

	mu       sync.Mutex // guards the fields below
	host     *host
	server   *gatekeeper.Server // nil while the server is stopped
	registry *prometheus.Registry
}

func newMember(w *world, i int) *member {
	var latency time.Duration
	if len(w.plan.latencies) > 0 {
		latency = w.plan.latencies[i]
	}
	m := &member{world: w, id: fmt.Sprintf("gk%d", i+1), disk: newDisk(latency), changing: make(chan struct{}, 1)}
	m.changing <- struct{}{}
	m.memory = consensus.NewMemoryOn(m.disk, consensus.MemoryOptions{
		Pace: w.plan.pace,
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			return w.net.dial(ctx, m.machine(), address)
		},
	})
	// Set the cluster's id before the run starts, so that a world depends only on its plan.
	dir, err := consensus.PrepareDataDir(consensus.DataDirConfig{
		Memory: m.memory, MemberID: m.id, ClusterName: gatekeeper.DefaultClusterName, ClusterID: consensus.ClusterID{Seed: 1, Incarnation: 1},
	})
	if err != nil {
		panic(err) // cannot fail in memory
	}
	_ = dir.Close()
	return m
}

// IP addresses do not require name resolution.
func (m *member) api() string  { return "10.0.0." + m.id[2:] + ":7420" }
func (m *member) peer() string { return "10.0.0." + m.id[2:] + ":7421" }

// change prevents other callers from starting or stopping the server until the returned function is called.
func (m *member) change() (done func()) {
	<-m.changing
	return func() { m.changing <- struct{}{} }
}

// start restarts the machine after the previous server has exited. It does nothing if a server is running.
func (m *member) start() error {
	defer m.change()()
	if m.running() != nil {
		return nil
	}
	m.disk.powerOn()
	for {
		err := m.open()
		if !errors.Is(err, gatekeeper.ErrDataDirLocked) {
			return err
		}
		advance(100 * time.Millisecond)
	}
}

// open starts a server. The caller must hold changing.
func (m *member) open() error {
	h, registry := &host{machine: m.id}, prometheus.NewRegistry()
	m.set(h, nil, registry)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var set []gatekeeper.Member
	for _, other := range m.world.members {
		set = append(set, gatekeeper.Member{ID: other.id, PeerAddress: other.peer()})
	}
	server, err := gatekeeper.Open(ctx, gatekeeper.Config{
		ID:           m.id,
		Memory:       (*gatekeeper.Memory)(m.memory),
		Listeners:    gatekeeper.Listeners{API: m.world.net.listen(h, m.api()), Peer: m.world.net.listen(h, m.peer())},
		AdvertiseAPI: m.api(),
		Members:      set,
		Profile:      m.world.plan.profile,
		Logger:       m.world.log.With(slog.String("server", m.id)),
		Registerer:   registry,
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", m.id, err)
	}
	m.set(h, server, registry)
	return nil
}

func (m *member) set(h *host, server *gatekeeper.Server, registry *prometheus.Registry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.host, m.server, m.registry = h, server, registry
}

// crash stops the server as a power loss would: its messages are dropped, and its disk loses incomplete writes.
func (m *member) crash(notifyPeers bool) { m.cutOff(notifyPeers, m.disk.powerOff) }

// kill stops the server as kill -9 would: its messages are dropped, but its disk completes pending writes.
func (m *member) kill(notifyPeers bool) { m.cutOff(notifyPeers, func() {}) }

func (m *member) cutOff(notifyPeers bool, disk func()) {
	defer m.change()()
	if m.running() == nil {
		return
	}
	m.world.net.kill(m.machine(), notifyPeers)
	disk()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m.end(ctx)
}

// stop stops the server as an operator would.
func (m *member) stop() {
	defer m.change()()
	if m.running() == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	m.end(ctx)
}

// end closes the server. The caller must hold changing.
func (m *member) end(ctx context.Context) {
	m.mu.Lock()
	server, registry := m.server, m.registry
	m.mu.Unlock()
	m.world.paths.countMetrics(registry)
	_ = server.Close(ctx) // errors are expected, because the server may have been cut off
	m.mu.Lock()
	defer m.mu.Unlock()
	m.server = nil
}

// running returns the server, or nil.
func (m *member) running() *gatekeeper.Server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.server
}

// exited reports whether the server has exited without being stopped.
func (m *member) exited() bool {
	server := m.running()
	if server == nil {
		return false
	}
	select {
	case <-server.Done():
		return true
	default:
		return false
	}
}

// machine returns the machine's current host.
func (m *member) machine() *host {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.host
}
