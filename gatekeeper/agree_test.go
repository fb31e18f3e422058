package gatekeeper

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// configWithoutData returns a closed server's configuration with an empty data directory.
func configWithoutData(t *testing.T, s *Server) Config {
	t.Helper()
	cfg, _ := testConfig(t, s.cfg.ID)
	cfg.Members, cfg.PeerAddress = s.cfg.Members, ""
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	return cfg
}

func TestOpen_AllMembersNew_AgreeOnRandomClusterID(t *testing.T) {
	t.Parallel()
	one, other := cluster(t, "gk1", "gk2"), cluster(t, "gk1", "gk2")
	if one[0].ClusterID() != one[1].ClusterID() {
		t.Errorf("members of the same cluster have cluster ids %s and %s", one[0].ClusterID(), one[1].ClusterID())
	}
	if one[0].ClusterID() == other[0].ClusterID() {
		t.Errorf("two clusters have the same id %s", one[0].ClusterID())
	}
}

func TestOpen_AnotherMemberHasData_MembersWithoutDataAreRefused(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	for _, lost := range [][]*Server{servers[:1], servers[:2], servers[1:]} { // the first, the first two, the last two
		for _, s := range lost {
			closeServer(t, s)
		}
		errs := make(chan error)
		for _, s := range lost {
			cfg := configWithoutData(t, s)
			go func() {
				_, err := Open(bounded(t), cfg)
				errs <- err
			}()
		}
		for range lost {
			if err := <-errs; !errors.Is(err, ErrMemberHasData) || !strings.Contains(err.Error(), "--join") {
				t.Errorf("Open() = %v, want ErrMemberHasData", err)
			}
		}
		for _, s := range lost { // reopen it with its old data
			cfg, _ := testConfig(t, s.cfg.ID)
			cfg.Members, cfg.PeerAddress, cfg.DataDir = s.cfg.Members, "", s.cfg.DataDir
			for i := range servers {
				if servers[i] == s {
					servers[i] = open(t, cfg)
				}
			}
		}
		waitReady(t, servers...)
	}
}

func TestOpen_MembersMissing_WaitsUntilContextEnds(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	cfg, log := testConfig(t, "gk1")
	cfg.Listeners.Peer, cfg.PeerAddress = listener, ""
	cfg.Members = []Member{{"gk1", listener.Addr().String()}, {"gk2", "127.0.0.1:1"}}
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error)
	go func() {
		_, err := Open(ctx, cfg)
		opened <- err
	}()
	eventually(t, func() bool { return strings.Contains(log.String(), "needs all of its members") })
	cancel()
	if err := <-opened; !errors.Is(err, ErrMembersMissing) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "gk2") {
		t.Errorf("Open() = %v, want ErrMembersMissing naming gk2", err)
	}
	if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept() on the listener = %v, want net.ErrClosed", err)
	}
}

// Only the first start requires all members.
func TestOpen_ExistingMembers_RestartOneByOne(t *testing.T) {
	t.Parallel()
	servers := cluster(t, "gk1", "gk2", "gk3")
	id := servers[0].ClusterID()
	for _, s := range servers {
		closeServer(t, s)
	}
	for i, s := range servers {
		cfg, _ := testConfig(t, s.cfg.ID)
		cfg.Members, cfg.PeerAddress, cfg.DataDir = s.cfg.Members, "", s.cfg.DataDir
		servers[i] = open(t, cfg)
	}
	waitReady(t, servers...)
	if servers[2].ClusterID() != id {
		t.Errorf("ClusterID() = %s, want %s", servers[2].ClusterID(), id)
	}
}
