package consensus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is Raft's in-memory transport with hooks. Like Raft's network transport, it passes heartbeats to the heartbeat
// handler.
type wire struct {
	*raft.InmemTransport
	requests chan raft.RPC
	closed   chan struct{}
	once     sync.Once

	mu sync.Mutex // guards the hooks
	// before runs before a request is sent. If it returns an error, the request fails with that error.
	before func(to raft.ServerID, command any) error
	// after runs when a response to AppendEntries arrives, before it is returned to the caller.
	after func(to raft.ServerID)
}

func newWire(address string) *wire {
	_, inner := raft.NewInmemTransportWithTimeout(raft.ServerAddress(address), transportTimeout)
	return &wire{InmemTransport: inner, requests: make(chan raft.RPC), closed: make(chan struct{})}
}

func (w *wire) Consumer() <-chan raft.RPC { return w.requests }

func (w *wire) SetHeartbeatHandler(handle func(raft.RPC)) {
	go func() {
		for {
			select {
			case rpc := <-w.InmemTransport.Consumer():
				go func() { // like the network transport, which has a goroutine per connection
					if isHeartbeat(rpc.Command) {
						handle(rpc)
						return
					}
					select {
					case w.requests <- rpc:
					case <-w.closed:
					}
				}()
			case <-w.closed:
				return
			}
		}
	}()
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.InmemTransport.Close()
}

// isHeartbeat reports whether Raft's network transport would treat the request as a heartbeat.
func isHeartbeat(command any) bool {
	req, ok := command.(*raft.AppendEntriesRequest)
	return ok && req.Term != 0 && len(req.Entries) == 0 && req.PrevLogEntry == 0 && req.PrevLogTerm == 0 && req.LeaderCommitIndex == 0
}

var errCut = errors.New("cut off")

func (w *wire) hooks() (func(raft.ServerID, any) error, func(raft.ServerID)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, after := w.before, w.after
	if before == nil {
		before = func(raft.ServerID, any) error { return nil }
	}
	if after == nil {
		after = func(raft.ServerID) {}
	}
	return before, after
}

func (w *wire) set(before func(raft.ServerID, any) error, after func(raft.ServerID)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after = before, after
}

func (w *wire) AppendEntries(id raft.ServerID, to raft.ServerAddress, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	before, after := w.hooks()
	if err := before(id, req); err != nil {
		return err
	}
	err := w.InmemTransport.AppendEntries(id, to, req, resp)
	after(id)
	return err
}

func (w *wire) RequestVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	before, _ := w.hooks()
	if err := before(id, req); err != nil {
		return err
	}
	return w.InmemTransport.RequestVote(id, to, req, resp)
}

func (w *wire) RequestPreVote(id raft.ServerID, to raft.ServerAddress, req *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	before, _ := w.hooks()
	if err := before(id, req); err != nil {
		return err
	}
	return w.InmemTransport.RequestPreVote(id, to, req, resp)
}

func (w *wire) TimeoutNow(id raft.ServerID, to raft.ServerAddress, req *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	before, _ := w.hooks()
	if err := before(id, req); err != nil {
		return err
	}
	return w.InmemTransport.TimeoutNow(id, to, req, resp)
}

// recorder is a LeadershipObserver that records its calls.
type recorder struct {
	events  chan string
	promote func(term uint64, done <-chan struct{})
}

func newRecorder() *recorder { return &recorder{events: make(chan string, 100)} }

func (r *recorder) Promote(term uint64, done <-chan struct{}) {
	r.events <- fmt.Sprintf("promote %d", term)
	if r.promote != nil {
		r.promote(term, done)
	}
}
func (r *recorder) Demote(term uint64) { r.events <- fmt.Sprintf("demote %d", term) }

// member is one server of an in-memory cluster.
type member struct {
	*Node
	wire     *wire
	observer *recorder
	memory   *raft.InmemStore
	disk     *disk // wraps memory, for the log and the votes
	machine  *fsm.Machine
}

// testClusterID is the id of test clusters, as if the members had agreed on it.
var testClusterID = ClusterID{Seed: 7, Incarnation: 1}

// memoryCluster starts a cluster with in-memory transports and stores. adjust may change each member's config.
func memoryCluster(t *testing.T, size int, adjust func(i int, cfg *Config)) []*member {
	t.Helper()
	var set []Member
	for i := range size {
		set = append(set, Member{ID: fmt.Sprintf("gk%d", i+1), PeerAddress: fmt.Sprintf("gk%d.test:7421", i+1)})
	}
	var members []*member
	for i, m := range set {
		dataDir, err := PrepareDataDir(DataDirConfig{Dir: t.TempDir(), MemberID: m.ID, ClusterName: "test", Members: set, ClusterID: testClusterID})
		if err != nil {
			t.Fatal(err)
		}
		memory := raft.NewInmemStore()
		member := &member{observer: newRecorder(), memory: memory, disk: &disk{InmemStore: memory}, machine: fsm.New(dataDir.ClusterID().String())}
		cfg := Config{DataDir: dataDir, Members: set, Machine: member.machine, APIAddress: fmt.Sprintf("gk%d.test:7420", i+1)}
		cfg.setDefaults()
		if adjust != nil {
			adjust(i, &cfg)
		}
		member.wire = newWire(m.PeerAddress)
		member.Node = newNode(cfg, m.PeerAddress)
		members = append(members, member)
	}
	for _, a := range members {
		for _, b := range members {
			a.wire.Connect(raft.ServerAddress(b.PeerAddress()), b.wire.InmemTransport)
		}
	}
	for _, m := range members {
		s := m.guardedMemory(m.disk)
		err := m.start(s, m.wire, func(_ raft.ServerID, a raft.ServerAddress) raft.ServerAddress { return a })
		if err != nil {
			t.Fatal(err)
		}
		m.ObserveLeadership(m.observer)
		t.Cleanup(func() { closeNode(t, m.Node) })
	}
	return members
}

func closeNode(t *testing.T, n *Node) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := n.Close(ctx); err != nil {
		t.Errorf("close %s: %v", n.ID(), err)
	}
}

// until polls until cond holds. In a synctest bubble, it uses the bubble's clock.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// leaderOf waits for a promoted leader among members.
func leaderOf(t *testing.T, members ...*member) *member {
	t.Helper()
	var leader *member
	until(t, "a leader is promoted", func() bool {
		for _, m := range members {
			if term, leads := leads(m.raft); leads && m.promoted.Load() == term {
				leader = m
				return true
			}
		}
		return false
	})
	return leader
}

func others(members []*member, excluded *member) []*member {
	var rest []*member
	for _, m := range members {
		if m != excluded {
			rest = append(rest, m)
		}
	}
	return rest
}

// entry returns a log entry that the state machine accepts.
func entry(t *testing.T, id string) []byte {
	t.Helper()
	b, err := fsm.Encode(1, []fsm.Command{fsm.RetireMember{ID: id}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustAppend(t *testing.T, n *Node, id string) Appended {
	t.Helper()
	a := n.Append(entry(t, id)).Wait()
	if a.Err != nil {
		t.Fatalf("Append on %s: %v", n.ID(), a.Err)
	}
	return a
}

// faultyMachine is a machine whose Apply fails.
type faultyMachine struct{ *fsm.Machine }

func (faultyMachine) Apply(uint64, uint64, []byte) ([]fsm.Result, error) {
	return nil, errors.New("unknown command")
}

// guardedMemory returns in-memory stores with the same guards as store.Open.
func (m *member) guardedMemory(d Disk) stores {
	queue := store.NewAppendQueue(store.NewLog(d, m.guard))
	return stores{
		log:       queue,
		stable:    store.NewStable(d, queue),
		snapshots: store.NewSnapshots(raft.NewInmemSnapshotStore(), queue, m.guard),
		queue:     queue,
		close:     func() error { queue.Close(); return nil },
	}
}

// countWarnings returns a logger that counts warnings and errors.
func countWarnings(n *int) *slog.Logger { return slog.New(counter{n}) }

type counter struct{ n *int }

func (c counter) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (c counter) Handle(context.Context, slog.Record) error    { *c.n++; return nil }
func (c counter) WithAttrs([]slog.Attr) slog.Handler           { return c }
func (c counter) WithGroup(string) slog.Handler                { return c }

// newPeerLayer returns a peer layer that responds on listener as the member that owns the directory.
func newPeerLayer(f *DataDir, listener net.Listener) *peer.Layer {
	return peer.New(peer.Config{
		Cluster: f.ClusterID().String(), ID: f.MemberID(), DataDir: f.file.DataDir, Listener: listener, Logger: slog.New(slog.DiscardHandler),
		CheckPeer: func(peer.Statement) error { return nil },
	})
}
