package consensus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store"
)

// Machine is the replicated state machine. *fsm.Machine is one.
type Machine interface {
	// Apply applies an entry. After an error the server stops: nothing was applied, and nothing may be after it.
	Apply(index, term uint64, entry []byte) ([]fsm.Result, error)
	State() *fsm.State
	Restore(io.Reader) error
}

// LogStore is how a data folder keeps its log.
type LogStore = store.Kind

// The kinds of log stores.
const (
	LogStoreBolt = store.KindBolt
	LogStoreWAL  = store.KindWAL
)

// Timeouts are Raft's. The leader's lease equals Heartbeat: a leader that cannot reach a majority for so long steps
// down.
type Timeouts struct {
	Heartbeat time.Duration
	Election  time.Duration
}

// DefaultTimeouts suit networks and machines that stand still for half a second now and then.
func DefaultTimeouts() Timeouts {
	return Timeouts{Heartbeat: 800 * time.Millisecond, Election: 800 * time.Millisecond}
}

// FastTimeouts fail over sooner, on networks and machines that never stand still for long.
func FastTimeouts() Timeouts {
	return Timeouts{Heartbeat: 400 * time.Millisecond, Election: 400 * time.Millisecond}
}

// clientRetry is how long a client may need to find the new leader: a refresh that nobody answers, and the pause before
// the next one.
const clientRetry = time.Second

// SmallestDuration is the shortest duration for which a permit outlasts the death of the leader, in whole seconds.
//
// Until a new leader grants again, the followers must miss the old one, which takes up to two heartbeat timeouts, and
// elect another, which takes up to two election timeouts if the first vote is split. Then the client must find it. A
// client refreshes at a third of the duration and stops the job a fifth before the deadline, which is 2 % early. So a
// leader that dies just before it answers leaves 44 % of the duration.
func (t Timeouts) SmallestDuration() time.Duration {
	const left = 0.44
	failover := 2*t.Heartbeat + 2*t.Election + clientRetry
	return (time.Duration(float64(failover)/left) + time.Second - 1).Truncate(time.Second)
}

// Config is what Open needs. Folder and Machine are required, and one of PeerListener and PeerAddress.
type Config struct {
	// Folder is owned by the node once Open succeeded.
	Folder  *Folder
	Machine Machine

	// LogStore is how a new folder keeps its log; one that exists must have that kind. Default: that of the folder,
	// LogStoreBolt for a new one.
	LogStore LogStore

	// PeerListener takes the peers' connections; without it Open listens on PeerAddress. It is owned by the node once
	// Open succeeded.
	PeerListener net.Listener
	// PeerDial makes connections to other members. Default: TCP.
	PeerDial    func(ctx context.Context, address string) (net.Conn, error)
	PeerAddress string
	// AdvertisePeer is the address by which other members reach this one. Default: this member's own in Members, else
	// that of the listener. It is never an unspecified one like 0.0.0.0.
	AdvertisePeer string
	// APIAddress is the advertised address of this member's API, sent to peers.
	APIAddress string
	// Members are the named set that starts a new cluster together, equal on all of them; empty for a single server.
	// They are read only while the folder has no state, and never by a joiner.
	Members []Member

	// Level is the newest feature level that this member supports. Default 1.
	Level uint32

	Timeouts Timeouts    // default DefaultTimeouts
	TLS      certs.Files // zero: peers talk in the clear

	// StoreTimeout is how long a store call may take before it is a fault. Default 10 s.
	StoreTimeout time.Duration
	// A snapshot is taken when SnapshotThreshold entries are newer than the last, looked at each SnapshotInterval to
	// twice that. TrailingLogs older entries stay, so that a follower that was away needs no snapshot. Defaults 20 000,
	// 30 s and 100 000.
	SnapshotThreshold uint64
	SnapshotInterval  time.Duration
	TrailingLogs      uint64

	// Retired says that a member id was used before and must not be taken again. Optional.
	Retired func(id string) bool
	// Retire has the cluster remember that a member id must not be taken again. It is called on the leader, before the
	// member is removed, and may be called again for the same id. Optional.
	Retire func(ctx context.Context, id string) error

	// WallClock shows the time that this member states to the others, see Clocks. Default: time.Now.
	WallClock func() time.Time

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// transportTimeout is how long a peer may take to answer. A follower answers what it has to store after a sync or a
// snapshot, so it must be patient; it plays no part in fail-over.
const transportTimeout = 2 * time.Second

// slowCall is how long a store call may take before it is logged.
const slowCall = 500 * time.Millisecond

func (c *Config) setDefaults() {
	if c.Timeouts == (Timeouts{}) {
		c.Timeouts = DefaultTimeouts()
	}
	if c.Level == 0 {
		c.Level = 1
	}
	if c.StoreTimeout == 0 {
		c.StoreTimeout = 10 * time.Second
	}
	if m := c.Folder.memory; m != nil && m.options.Pace != (SnapshotPace{}) {
		c.SnapshotThreshold, c.SnapshotInterval, c.TrailingLogs = m.options.Pace.Threshold, m.options.Pace.Interval, m.options.Pace.Trailing
	}
	if c.SnapshotThreshold == 0 {
		c.SnapshotThreshold = 20_000
	}
	if c.SnapshotInterval == 0 {
		c.SnapshotInterval = 30 * time.Second
	}
	if c.TrailingLogs == 0 {
		c.TrailingLogs = 100_000
	}
	if c.Retired == nil {
		c.Retired = func(string) bool { return false }
	}
	if c.Retire == nil {
		c.Retire = func(context.Context, string) error { return nil }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// advertise is the address by which peers reach a member that listens on listener.
func (c *Config) advertise(id string, listener net.Addr) (string, error) {
	own := ""
	for _, m := range c.Members {
		if m.ID == id {
			own = m.PeerAddress
		}
	}
	address := c.AdvertisePeer
	switch {
	case address == "" && own != "":
		address = own
	case address == "":
		address = listener.String()
	case own != "" && own != address:
		return "", fmt.Errorf("consensus: %s is %s among the members but advertises %s", id, own, address)
	}
	return address, checkAddress(address)
}

// checkAddress refuses addresses that mean another host to everyone who reads them.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: peer address %q: %w", ErrInvalidMember, address, err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("%w: peer address %q names no host; advertise one that the other members can reach", ErrInvalidMember, address)
	}
	if port == "" || port == "0" {
		return fmt.Errorf("%w: peer address %q names no port", ErrInvalidMember, address)
	}
	return nil
}

// checkMemberID keeps ids to what fits in file names, addresses and log lines.
func checkMemberID(id string) error {
	ok := len(id) >= 1 && len(id) <= 64
	for _, r := range id {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	}
	if !ok {
		return fmt.Errorf("%w: id %q: want 1 to 64 of A-Z a-z 0-9 . _ -", ErrInvalidMember, id)
	}
	return nil
}

// bootstrap returns the named set to start with.
func (c *Config) bootstrap(id, address string) ([]Member, error) {
	if len(c.Members) == 0 {
		return []Member{{ID: id, PeerAddress: address}}, nil
	}
	found := false
	ids := make(map[string]bool)
	for _, m := range c.Members {
		if err := errors.Join(checkMemberID(m.ID), checkAddress(m.PeerAddress)); err != nil {
			return nil, err
		}
		if ids[m.ID] {
			return nil, fmt.Errorf("%w: %s is named twice", ErrInvalidMember, m.ID)
		}
		ids[m.ID] = true
		found = found || m.ID == id
	}
	if !found {
		return nil, fmt.Errorf("%w: %s is not among the members %v", ErrInvalidMember, id, memberIDs(c.Members))
	}
	return c.Members, nil
}
