package api

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// clusterService serves gatekeeper.v1.ClusterService.
type clusterService struct {
	gatekeeperv1.UnimplementedClusterServiceServer
	*API
	keeper clusterKeeper
	// hashing limits hash computation to one call at a time. Computing a hash reads the whole state and must not occupy
	// more than one processor.
	hashing chan struct{}
}

// GetStatus describes the cluster as seen by this server.
func (s *clusterService) GetStatus(ctx context.Context, m *gatekeeperv1.GetStatusRequest) (*gatekeeperv1.GetStatusResponse, error) {
	members, err := s.members()
	if err != nil {
		return nil, err
	}
	node, state := s.cfg.Consensus, s.cfg.Machine.State()
	leader := node.Leader()
	out := &gatekeeperv1.GetStatusResponse{
		ClusterId:        node.ClusterID().String(),
		Id:               s.cfg.ID,
		Role:             gatekeeperv1.ServerRole(node.Role()),
		LeaderId:         leader.ID,
		LeaderApiAddress: leader.APIAddress,
		Term:             node.Term(),
		AppliedIndex:     node.AppliedIndex(),
		CommitIndex:      node.CommitIndex(),
		Revision:         state.Revision(),
		Members:          members,
		Definitions:      uint32(state.DefinitionCount()),
		Permits:          uint32(state.PermitCount()),
		FeatureLevel:     state.FeatureLevel(),
		Version:          s.cfg.Version,
		Waiters:          uint32(s.keeper.WaiterCount()),
		Insecure:         s.cfg.Insecure,
	}
	if !s.cfg.Started.IsZero() {
		out.Uptime = durationpb.New(time.Since(s.cfg.Started))
	}
	for _, c := range s.keeper.HostClocks() {
		if !s.canViewAll(ctx) {
			break // they contain groups and acquirers
		}
		out.HostClocks = append(out.HostClocks, &gatekeeperv1.HostClock{
			Group: c.Group, Acquirer: c.Acquirer, Ahead: durationpb.New(c.Ahead), Seen: toTimestamp(c.Seen),
		})
	}
	for _, c := range s.cfg.SkewedClocks() {
		out.MemberClocks = append(out.MemberClocks, &gatekeeperv1.MemberClock{Id: c.ID, Ahead: durationpb.New(c.Ahead)})
	}
	s.addDenyAll(ctx, out)
	if w := node.Writes(); w.Count > 0 {
		out.LogWrites = &gatekeeperv1.LogWrites{Count: uint32(w.Count), Median: durationpb.New(w.Median), Longest: durationpb.New(w.Longest)}
	}
	if last, ok := node.LastSnapshot(); ok {
		out.LastSnapshot = &gatekeeperv1.Snapshot{Index: last.Index, Bytes: uint64(last.Bytes), TakenAt: toTimestamp(last.At)}
	}
	out.Certificates = s.certificates()
	s.addStoredWork(ctx, state, out)
	if smallest := s.minDuration(); smallest > 0 {
		out.SmallestDuration = durationpb.New(smallest)
	}
	if left, recovering := s.reader.Recovering(); recovering {
		out.RecoveryWait = durationpb.New(left)
	}
	if m.GetStateHash() {
		if out.StateHash, err = s.hash(ctx, state); err != nil {
			return nil, err
		}
		out.StateHashIndex = state.Index()
	}
	return out, nil
}

// maxStatusWork is the maximum number of semaphores whose job storage is listed in a status.
const maxStatusWork = 100

// addStoredWork adds the storage used by jobs to a status.
func (s *clusterService) addStoredWork(ctx context.Context, state *fsm.State, out *gatekeeperv1.GetStatusResponse) {
	limits := state.Settings().Work.OrDefault()
	out.WorkBytes, out.MaxWorkBytes, out.MaxSemaphoreWorkBytes = state.WorkBytes(), limits.ClusterBytes, limits.SemaphoreBytes
	for name, w := range state.WorkBySemaphore() {
		if !s.visible(ctx, state, name) {
			continue
		}
		out.Work = append(out.Work, &gatekeeperv1.SemaphoreWork{
			Semaphore: name, Jobs: uint32(w.Jobs), Waiting: w.Waiting, Held: w.Held, Bytes: w.Bytes,
		})
	}
	slices.SortStableFunc(out.GetWork(), func(a, b *gatekeeperv1.SemaphoreWork) int { return cmp.Compare(b.GetBytes(), a.GetBytes()) })
	out.Work = out.GetWork()[:min(len(out.GetWork()), maxStatusWork)]
}

// certificates returns the certificates that this server presents, as currently stored in its files.
func (s *clusterService) certificates() (all []*gatekeeperv1.Certificate) {
	for _, c := range []struct {
		port  gatekeeperv1.CertificatePort
		files certs.Files
	}{
		{gatekeeperv1.CertificatePort_CERTIFICATE_PORT_API, s.cfg.TLS},
		{gatekeeperv1.CertificatePort_CERTIFICATE_PORT_PEER, s.cfg.PeerTLS},
	} {
		if c.files.IsZero() {
			continue
		}
		shown := &gatekeeperv1.Certificate{Port: c.port}
		if subject, end, err := c.files.Expiry(); err != nil {
			shown.Error = err.Error()
		} else {
			shown.Subject, shown.NotAfter = subject, toTimestamp(end)
		}
		all = append(all, shown)
	}
	return all
}

func (s *clusterService) hash(ctx context.Context, state *fsm.State) (string, error) {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	hash, err := state.Hash()
	if err != nil {
		return "", fmt.Errorf("hash of the state at index %d: %w", state.Index(), err)
	}
	return hex.EncodeToString(hash[:]), nil
}

// AddMember adds a server to the cluster.
func (s *clusterService) AddMember(ctx context.Context, m *gatekeeperv1.AddMemberRequest) (*gatekeeperv1.AddMemberResponse, error) {
	if err := validMemberID(m.GetId()); err != nil {
		return nil, err
	}
	if err := validPeerAddress(m.GetPeerAddress()); err != nil {
		return nil, err
	}
	if err := s.caller(ctx).mayJoin(m.GetPeerAddress()); err != nil {
		return nil, err
	}
	if s.cfg.Machine.State().Retired(m.GetId()) {
		return nil, fmt.Errorf("member %q: %w", m.GetId(), consensus.ErrMemberRetired)
	}
	addition := consensus.Addition{ID: m.GetId(), PeerAddress: m.GetPeerAddress(), NonVoter: m.GetNonVoter(), Joining: m.GetJoining()}
	if err := s.cfg.Consensus.AddMember(ctx, addition); err != nil {
		return nil, err
	}
	members, err := s.members()
	if err != nil {
		return nil, err
	}
	return &gatekeeperv1.AddMemberResponse{ClusterId: s.cfg.Consensus.ClusterID().String(), Members: members}, nil
}

// RemoveMember removes a server and retires its id.
func (s *clusterService) RemoveMember(ctx context.Context, m *gatekeeperv1.RemoveMemberRequest) (*gatekeeperv1.RemoveMemberResponse, error) {
	if err := validMemberID(m.GetId()); err != nil {
		return nil, err
	}
	if m.GetDryRun() {
		r, refusal, err := s.cfg.Consensus.PlanRemoval(ctx, m.GetId())
		if err != nil {
			return nil, err
		}
		out := toRemoval(r)
		if refusal != nil {
			out.Refusal = refusal.Error()
		}
		return out, nil
	}
	r, err := s.cfg.Consensus.RemoveMember(ctx, m.GetId(), m.GetForce())
	if err != nil {
		return nil, err
	}
	return toRemoval(r), nil
}

func toRemoval(r consensus.Removal) *gatekeeperv1.RemoveMemberResponse {
	return &gatekeeperv1.RemoveMemberResponse{Members: toMembers(r.Members), AlreadyRemoved: r.AlreadyRemoved, Silent: r.Silent}
}

// TransferLeadership transfers leadership. The response names the new leader if it is already known.
func (s *clusterService) TransferLeadership(ctx context.Context, m *gatekeeperv1.TransferLeadershipRequest) (*gatekeeperv1.TransferLeadershipResponse, error) {
	if m.GetId() != "" {
		if err := validMemberID(m.GetId()); err != nil {
			return nil, err
		}
	}
	if err := s.cfg.Consensus.Transfer(ctx, m.GetId()); err != nil {
		return nil, &transferError{err}
	}
	leader := m.GetId()
	if leader == "" {
		leader = s.cfg.Consensus.Leader().ID
	}
	return &gatekeeperv1.TransferLeadershipResponse{LeaderId: leader}, nil
}

// inferTransferReply returns the response to a forwarded transfer that was cut off because a new leader took over, most
// likely as a result of the transfer itself. It returns nil if a member other than the requested one is now the leader,
// if the old leader leads again, or if no leader is known.
func inferTransferReply(req any, oldLeader, newLeader consensus.Leader) proto.Message {
	m, ok := req.(*gatekeeperv1.TransferLeadershipRequest)
	if !ok || newLeader.ID == "" || newLeader.ID == oldLeader.ID || m.GetId() != "" && m.GetId() != newLeader.ID {
		return nil
	}
	return &gatekeeperv1.TransferLeadershipResponse{LeaderId: newLeader.ID}
}

func (s *clusterService) members() ([]*gatekeeperv1.Member, error) {
	members, err := s.cfg.Consensus.Members()
	if err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	return toMembers(members), nil
}

func toMembers(members []consensus.Member) []*gatekeeperv1.Member {
	out := make([]*gatekeeperv1.Member, len(members))
	for i, m := range members {
		out[i] = &gatekeeperv1.Member{Id: m.ID, PeerAddress: m.PeerAddress, ApiAddress: m.APIAddress, Voter: m.Voter, Leader: m.Leader}
	}
	return out
}

// maxMemberID is the maximum length of a member id in bytes.
const maxMemberID = 64

func validMemberID(id string) error {
	if id == "" || len(id) > maxMemberID {
		return invalid("id", id, "must be 1 to "+strconv.Itoa(maxMemberID)+" bytes, not "+strconv.Itoa(len(id)))
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return invalid("id", id, "must contain only letters, digits, dots, underscores and hyphens")
		}
	}
	return nil
}

// validPeerAddress refuses addresses that other servers cannot dial.
func validPeerAddress(address string) error {
	const field = "peer_address"
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return invalid(field, address, "must be host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return invalid(field, address, "must have a port from 1 to 65535")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return invalid(field, address, "must name a host that the other servers can reach")
	}
	return nil
}
