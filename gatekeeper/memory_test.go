package gatekeeper

import (
	"errors"
	"testing"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// inMemoryConfig returns the configuration of an in-memory server.
func inMemoryConfig(t *testing.T) Config {
	cfg, _ := testConfig(t, "")
	cfg.DataDir, cfg.Memory = "", NewMemory()
	return cfg
}

func TestMemory_ServerReopened_KeepsDefinitionsPermitsAndIdentity(t *testing.T) {
	t.Parallel()
	cfg := inMemoryConfig(t)
	s, c := openReady(t, cfg)
	c.create(t, "job")
	p, clusterID := c.grant(t, "job", "app1"), s.ClusterID()
	if _, err := Open(bounded(t), cfg); !errors.Is(err, ErrDataDirLocked) {
		t.Errorf("Open() of a second server on the same Memory = %v, want ErrDataDirLocked", err)
	}
	closeServer(t, s)

	checkRestarted(t, cfg, clusterID, p)
}

func TestExpireNow_InMemory_FreesTheSlot(t *testing.T) {
	t.Parallel()
	s, c := openReady(t, inMemoryConfig(t))
	c.create(t, "job")
	p := c.grant(t, "job", "app1")
	if err := s.ExpireNow(bounded(t), p.GetToken()); err != nil {
		t.Fatal(err)
	}
	if r := c.refresh(t, p); r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_LOST {
		t.Errorf("refresh after the expiry = %v, want LOST", r)
	}
	if next := c.grant(t, "job", "app2"); next.GetToken() <= p.GetToken() {
		t.Errorf("got token %d after %d, want a larger one", next.GetToken(), p.GetToken())
	}
	if err := s.ExpireNow(bounded(t), p.GetToken()); !errors.Is(err, ErrNoSuchPermit) {
		t.Errorf("second ExpireNow = %v, want ErrNoSuchPermit", err)
	}
}

func TestExpireNow_OnDisk_IsRejected(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s, c := openReady(t, cfg)
	c.create(t, "job")
	p := c.grant(t, "job", "app1")
	if err := s.ExpireNow(bounded(t), p.GetToken()); !errors.Is(err, ErrNotInMemory) {
		t.Errorf("ExpireNow = %v, want ErrNotInMemory", err)
	}
	if c.try(t, "job", "app2").GetGrant() != nil {
		t.Error("ExpireNow expired a permit of an on-disk server")
	}
}
