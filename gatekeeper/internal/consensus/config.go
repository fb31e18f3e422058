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

// Machine is the replicated state machine. *fsm.Machine implements it.
type Machine interface {
	// Apply applies an entry. If it returns an error, nothing was applied, and the server stops because no later entry
	// may be applied either.
	Apply(index, term uint64, entry []byte) ([]fsm.Result, error)
	State() *fsm.State
	Restore(io.Reader) error
}

// LogStore is the kind of store in which a data directory keeps its log.
type LogStore = store.Kind

// The kinds of log stores.
const (
	LogStoreBolt = store.KindBolt
	LogStoreWAL  = store.KindWAL
)

// Timeouts are Raft's timeouts. The leader's lease equals Heartbeat: a leader that cannot reach a majority for that
// long steps down.
type Timeouts struct {
	Heartbeat time.Duration
	Election  time.Duration
}

// DefaultTimeouts returns timeouts for networks and machines that occasionally stall for half a second.
func DefaultTimeouts() Timeouts {
	return Timeouts{Heartbeat: 800 * time.Millisecond, Election: 800 * time.Millisecond}
}

// FastTimeouts returns timeouts that are half as long as the default ones and fail over sooner, for networks and
// machines that never stall for long.
func FastTimeouts() Timeouts {
	return Timeouts{Heartbeat: 400 * time.Millisecond, Election: 400 * time.Millisecond}
}

// clientRetry is the time that a client may need to find the new leader: one refresh that gets no response, and the
// pause before the next one.
const clientRetry = time.Second

// MinDuration returns the shortest permit duration, in whole seconds, that lets a permit survive the death of the
// leader.
//
// Before a new leader can grant again, the followers must notice that the old one is gone, which takes up to two
// heartbeat timeouts, and elect a new one, which takes up to two election timeouts if the first vote is split. Then the
// client must find the new leader. A client refreshes after a third of the duration. It stops the job a fifth of the
// duration before its deadline, which it sets 2% early. A leader that dies just before it responds therefore leaves 44%
// of the duration.
func (t Timeouts) MinDuration() time.Duration {
	const remaining = 0.44
	failover := 2*t.Heartbeat + 2*t.Election + clientRetry
	return (time.Duration(float64(failover)/remaining) + time.Second - 1).Truncate(time.Second)
}

// Config configures Open. DataDir, Machine, and either PeerListener or PeerAddress are required.
type Config struct {
	// DataDir is owned by the node once Open has succeeded.
	DataDir *DataDir
	Machine Machine

	// LogStore is the kind of store in which a new data directory keeps its log. An existing directory must already use
	// this kind. Default: the kind used by the existing directory, or LogStoreBolt for a new one.
	LogStore LogStore

	// PeerListener accepts connections from peers. If it is nil, Open listens on PeerAddress. The node owns it once
	// Open has succeeded.
	PeerListener net.Listener
	// PeerDial makes connections to other members. Default: TCP.
	PeerDial    func(ctx context.Context, address string) (net.Conn, error)
	PeerAddress string
	// AdvertisePeer is the address at which other members reach this one. Default: this member's address in Members, or
	// the listener's if it has none there. It must not be an unspecified address such as 0.0.0.0.
	AdvertisePeer string
	// APIAddress is the advertised address of this member's API, sent to peers.
	APIAddress string
	// Members lists the servers that bootstrap a new cluster together. It must be the same on every member, and is
	// empty for a single server. It is used only while the data directory has no state, and never by a joiner.
	Members []Member

	// Level is the newest feature level that this member supports. Default 1.
	Level uint32

	Timeouts Timeouts    // default DefaultTimeouts
	TLS      certs.Files // zero value: connections between peers are not encrypted

	// StoreTimeout is how long a store call may take before it counts as a fault. Default 10 s.
	StoreTimeout time.Duration
	// A snapshot is taken when more than SnapshotThreshold entries are newer than the last snapshot. This is checked at
	// random intervals between SnapshotInterval and twice that. TrailingLogs older entries remain in the log, so that a
	// follower that was down does not need a snapshot. Defaults: 20,000, 30 s and 100,000.
	SnapshotThreshold uint64
	SnapshotInterval  time.Duration
	TrailingLogs      uint64

	// Retired reports whether a member id was used before and must not be used again. Optional.
	Retired func(id string) bool
	// Retire permanently records that a member id must not be used again. It is called on the leader before the member
	// is removed, possibly more than once for the same id. Optional.
	Retire func(ctx context.Context, id string) error

	// WallClock returns the time that this member reports to the others; see Clocks. Default: time.Now.
	WallClock func() time.Time

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// transportTimeout is how long a peer may take to respond. A follower responds to entries only after a sync, and to a
// snapshot only after installing it, so the timeout is generous. It plays no part in failover.
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
	if m := c.DataDir.memory; m != nil && m.options.Pace != (SnapshotPace{}) {
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

// advertise returns the address at which peers reach a member that listens on listener.
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
		return "", fmt.Errorf("consensus: the member list has %s at %s, but the member advertises %s", id, own, address)
	}
	return address, checkAddress(address)
}

// checkAddress rejects an address that would refer to a different host on each machine.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: peer address %q: %w", ErrInvalidMember, address, err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("%w: peer address %q has no host; advertise an address that the other members can reach", ErrInvalidMember, address)
	}
	if port == "" || port == "0" {
		return fmt.Errorf("%w: peer address %q has no port", ErrInvalidMember, address)
	}
	return nil
}

// checkMemberID restricts ids to characters that are safe in file names, addresses and log lines.
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

// bootstrap returns the set of members to bootstrap with.
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
			return nil, fmt.Errorf("%w: %s is listed twice", ErrInvalidMember, m.ID)
		}
		ids[m.ID] = true
		found = found || m.ID == id
	}
	if !found {
		return nil, fmt.Errorf("%w: %s is not among the members %v", ErrInvalidMember, id, memberIDs(c.Members))
	}
	return c.Members, nil
}
