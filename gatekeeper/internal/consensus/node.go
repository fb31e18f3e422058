package consensus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/peer"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// Node is a cluster member: Raft with its stores, its transport and its data directory.
type Node struct {
	cfg     Config
	id      raft.ServerID
	address raft.ServerAddress // advertised

	raft      *raft.Raft
	guard     *store.Guard
	replica   *replica
	transport *transport
	stores    stores
	acks      *acks
	confirmer *confirmer
	transfers *transferWatch
	metrics   *metrics

	fatal chan error
	// The context ends when the node is closed or has a fault.
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup // the node's own goroutines
	futures *futures
	closing sync.Once

	epochs   chan *epoch           // holds the newest epoch that has not been received yet
	epoch    atomic.Pointer[epoch] // the published epoch, or nil
	promoted atomic.Uint64         // the term for which Promote has returned, or 0

	started  atomic.Bool   // set once goroutines and callbacks may use raft
	changing chan struct{} // holds a token while no membership change is in progress
	redial   chan struct{} // holds a token when dialMembers should dial the others

	layer *peer.Layer // nil in tests without a network

	mu         sync.Mutex        // guards the fields below
	apiAddress map[string]string // API address by member, as last reported
	levels     map[string]uint32 // feature level by member, as last reported
	clocks     map[string]sample // each member's clock, as read when the member was last dialed

	unregister func()
}

// stores holds the stores that Raft writes to, and a function that closes them.
type stores struct {
	log       raft.LogStore
	stable    raft.StableStore
	snapshots raft.SnapshotStore
	queue     *store.AppendQueue // the log's queue
	close     func() error
}

// Open starts a member, initially as a follower.
func Open(cfg Config) (*Node, error) {
	cfg.setDefaults()
	if cfg.DataDir.ClusterID().IsZero() {
		return nil, ErrNotAgreed
	}
	listener := cfg.PeerListener
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", cfg.PeerAddress); err != nil {
			return nil, fmt.Errorf("consensus: listen for peers: %w", err)
		}
	}
	address, err := cfg.advertise(cfg.DataDir.MemberID(), listener.Addr())
	if err != nil {
		return nil, errors.Join(err, closeUnlessSupplied(cfg.PeerListener, listener))
	}
	if !cfg.TLS.IsZero() {
		if _, err := cfg.TLS.Peer(); err != nil { // fails now rather than at the first handshake
			return nil, errors.Join(err, closeUnlessSupplied(cfg.PeerListener, listener))
		}
	}
	n := newNode(cfg, address)
	opened, err := cfg.DataDir.stores(cfg.LogStore, n.guard, raftLogger(cfg.Logger))
	if err != nil {
		return nil, errors.Join(err, closeUnlessSupplied(cfg.PeerListener, listener))
	}
	layer := peer.New(peer.Config{
		Cluster:     cfg.DataDir.ClusterID().String(),
		ID:          cfg.DataDir.MemberID(),
		APIAddress:  cfg.APIAddress,
		DataDir:     cfg.DataDir.file.DataDir,
		Advertise:   address,
		Listener:    listener,
		Dial:        cfg.PeerDial,
		TLS:         cfg.TLS,
		Logger:      cfg.Logger,
		Level:       cfg.Level,
		WallClock:   cfg.WallClock,
		CheckPeer:   n.handlePeer,
		Succeeds:    succeeds,
		OnSuccessor: n.stopForSuccessor,
		OnClaim:     n.requestRedial,
		OnReject:    n.metrics.rejected.Inc,
	})
	inner := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Logger:  raftLogger(cfg.Logger),
		Stream:  layer,
		MaxPool: 3, // one each for entries and heartbeats, and a spare
		// Each connection carries one request at a time, so that each response belongs to the preceding request. The
		// default is 2.
		MaxRPCsInFlight: 1,
		Timeout:         transportTimeout,
	})
	n.layer = layer
	err = n.start(opened, inner, peer.Target)
	if err != nil {
		return nil, err
	}
	n.wg.Go(n.dialMembers)
	return n, nil
}

// closeUnlessSupplied closes a listener unless the caller supplied it.
func closeUnlessSupplied(supplied, listener net.Listener) error {
	if supplied != nil {
		return nil
	}
	return listener.Close()
}

func newNode(cfg Config, address string) *Node {
	n := &Node{
		cfg:        cfg,
		id:         raft.ServerID(cfg.DataDir.MemberID()),
		address:    raft.ServerAddress(address),
		acks:       newAcks(),
		metrics:    newMetrics(),
		fatal:      make(chan error, 1),
		futures:    newFutures(),
		epochs:     make(chan *epoch, 1),
		changing:   make(chan struct{}, 1),
		redial:     make(chan struct{}, 1),
		apiAddress: make(map[string]string),
		levels:     make(map[string]uint32),
		clocks:     make(map[string]sample),
		unregister: func() {},
	}
	n.changing <- struct{}{}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.guard = store.NewGuard(store.GuardConfig{
		Timeout: cfg.StoreTimeout,
		Slow:    slowCall,
		Fault:   n.fault,
		Observe: n.metrics.observeStore,
		Logger:  cfg.Logger,
	})
	n.replica = &replica{machine: cfg.Machine, guard: n.guard, changed: n.requestRedial, begin: cfg.DataDir.begin}
	n.transfers = &transferWatch{
		// Twice the duration of the longest transfer: sending all entries to the target, telling it to start an
		// election, and the election itself.
		limit:   2 * (2*cfg.Timeouts.Election + transportTimeout),
		refused: n.metrics.transferRefused,
		fail:    n.guard.Fail,
	}
	return n
}

// fault is called at the first fault. After a fault, this server acknowledges no more requests.
func (n *Node) fault(err error) {
	n.cfg.Logger.Error("this server must stop", "error", err)
	n.cancel()
	n.fatal <- err
}

// start assembles Raft on top of its stores and transport, and closes them if it fails.
func (n *Node) start(s stores, inner innerTransport, target func(raft.ServerID, raft.ServerAddress) raft.ServerAddress) error {
	n.stores = s
	n.replica.wait = s.queue.Wait
	n.transport = &transport{
		inner:     inner,
		target:    target,
		advertise: n.address,
		acks:      n.acks,
		incoming: newIncoming(inner.Consumer(), n.cfg.Timeouts.Heartbeat,
			raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.id), Addr: []byte(n.address)}, n.guard.Failed(), s.queue.Wait),
		snapshots: &snapshotAlarm{
			sent: n.metrics.snapshotsSent, alarms: n.metrics.snapshotAlarms, logger: n.cfg.Logger,
			followers: make(map[raft.ServerID]*followerSnapshots),
		},
		failed:  n.guard.Failed(),
		durable: s.queue.Durable,
	}
	inner.SetHeartbeatHandler(n.transport.incoming.heartbeat)
	err := n.newRaft()
	if err == nil {
		err = n.checkOwnAddress() // before it answers any peer
	}
	if err == nil {
		s.queue.Enable(func() bool { return n.raft.State() == raft.Leader })
		n.transport.incoming.setRaft(n.raft, n.checkLeader)
		n.confirmer = newConfirmer(n.raft, n.id, n.acks, n.cfg.Timeouts.Heartbeat, n.metrics.confirmRounds.Inc, n.futures.TryGo)
		if n.cfg.Registerer != nil {
			n.unregister, err = n.metrics.register(n.cfg.Registerer, n)
		}
	}
	if err != nil {
		n.cancel()
		n.guard.Release()
		if n.raft != nil {
			_ = n.raft.Shutdown().Error() // always nil
		}
		return errors.Join(fmt.Errorf("consensus: open: %w", err), n.transport.Close(), n.stores.close())
	}
	n.wg.Go(func() { n.confirmer.run(n.ctx) })
	n.started.Store(true)
	return nil
}

// checkOwnAddress returns an error if the latest configuration assigns this server's address to another member.
func (n *Node) checkOwnAddress() error {
	servers, err := n.servers()
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.Address == n.address && s.ID != n.id {
			return &AddressTakenError{Address: string(s.Address), Member: string(s.ID)}
		}
	}
	return nil
}

// handlePeer processes a peer's handshake. It records only verified statements from members of the latest
// configuration. A peer with an unknown id may be a joining server that this member does not know of yet, or any other
// program.
func (n *Node) handlePeer(s peer.Statement) error {
	if !n.started.Load() { // the members are not known yet
		n.requestRedial()
		return n.cfg.DataDir.checkPeer(s.ID, s.DataDir)
	}
	if n.removed(s.ID) {
		return peer.ErrRemoved
	}
	servers, err := n.servers()
	if err != nil {
		return err
	}
	if find(servers, raft.ServerID(s.ID)) == nil {
		return nil
	}
	if err := n.cfg.DataDir.checkPeer(s.ID, s.DataDir); err != nil {
		return err
	}
	n.noteClock(s)
	n.mu.Lock()
	known := n.apiAddress[s.ID] == s.APIAddress && n.levels[s.ID] == s.Level
	n.mu.Unlock()
	switch {
	case known && n.cfg.DataDir.knowsPeer(s.ID):
		return nil
	case !s.Verified:
		n.requestRedial()
		return nil
	}
	if err := n.cfg.DataDir.recordPeer(s.ID, s.DataDir, servers); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.levels {
		if find(servers, raft.ServerID(id)) == nil {
			delete(n.levels, id)
			delete(n.apiAddress, id)
			delete(n.clocks, id)
		}
	}
	n.apiAddress[strings.Clone(s.ID)] = s.APIAddress
	n.levels[strings.Clone(s.ID)] = s.Level
	return nil
}

// requestRedial makes dialMembers dial all other members again.
func (n *Node) requestRedial() {
	select {
	case n.redial <- struct{}{}:
	default:
	}
}

// Level returns the newest feature level that every member in the latest configuration supports, as reported when the
// member last connected. A member that has not connected yet counts as level 1. Only a leader stays in contact with all
// members.
func (n *Node) Level() uint32 {
	servers, err := n.servers()
	if err != nil {
		return 1
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	level := n.cfg.Level
	for _, s := range servers {
		if s.ID != n.id {
			level = min(level, max(n.levels[string(s.ID)], 1))
		}
	}
	return level
}

// Fatal returns a channel that receives the fault after which this server acknowledges no more requests, such as a
// store that failed or hung, an entry that the state machine cannot apply, a stuck Raft instance, or the server's
// removal from the cluster. The process, or at least this Node, must then stop.
func (n *Node) Fatal() <-chan error { return n.fatal }

// Close stops the member. If it leads, its leadership ends first and Demote is called. Close does not transfer
// leadership; see Transfer. If ctx ends first, for example because a store call is hung, Close returns an error. The
// data directory then stays locked until that call returns, because the call may still write.
func (n *Node) Close(ctx context.Context) error {
	var err error
	n.closing.Do(func() { err = n.close(ctx) })
	return err
}

func (n *Node) close(ctx context.Context) error {
	n.cancel()
	n.unregister()
	// Raft soon completes the futures that it has accepted: when an entry is applied, or when a leader without a
	// majority steps down. Only a hung state machine or store can take longer.
	idle := n.futures.Close()
	if n.guard.Err() == nil {
		waitCtx, cancel := context.WithTimeout(ctx, 3*n.cfg.Timeouts.Heartbeat)
		defer cancel()
		select {
		case <-idle:
		case <-waitCtx.Done():
		}
	}
	n.guard.Release()
	shutdown := n.raft.Shutdown()
	transportErr := n.transport.Close() // ends Raft's waits for peers
	closed := make(chan error, 1)
	go func() {
		_ = shutdown.Error() // always nil
		n.wg.Wait()
		closed <- errors.Join(n.stores.close(), n.cfg.DataDir.Close())
	}()
	select {
	case err := <-closed:
		return errors.Join(transportErr, err)
	case <-ctx.Done():
		return fmt.Errorf("consensus: close: a store call or the state machine is hung, and the data directory stays locked until it returns: %w", ctx.Err())
	}
}
