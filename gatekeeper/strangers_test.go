package gatekeeper

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestOpen_PortWithoutAuthentication_RequiresInsecure(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	withoutCA := func(c *Config) {
		a.secure(c)
		c.TLS.CAFile = ""
	}
	plain := func(*Config) {}
	for _, c := range []struct {
		what    string
		secure  func(*Config)
		listen  func(*Config)
		field   string // the rejected field; empty if the configuration is accepted
		refusal string
	}{
		{"the API", plain, func(c *Config) { c.APIAddress, c.AdvertiseAPI = "0.0.0.0:0", "127.0.0.1:7420" }, "APIAddress", "it does not use TLS"},
		{"the API on IPv6", plain, func(c *Config) { c.APIAddress, c.AdvertiseAPI = "[::]:0", "127.0.0.1:7420" }, "APIAddress", "it does not use TLS"},
		{"the peer port", plain, func(c *Config) { c.PeerAddress, c.AdvertisePeer = "0.0.0.0:0", "127.0.0.1:7421" }, "PeerAddress", "gkctl cert peer"},
		{"the HTTP port", plain, func(c *Config) { c.HTTPAddress = "0.0.0.0:0" }, "HTTPAddress", "it does not use TLS"},
		{"the admin port", plain, func(c *Config) { c.AdminAddress = "0.0.0.0:0" }, "AdminAddress", "it does not use TLS"},
		{"the API with TLS but without a CA file", withoutCA, func(c *Config) { c.APIAddress, c.AdvertiseAPI = "0.0.0.0:0", "127.0.0.1:7420" }, "APIAddress", "no CA file"},
		{"all ports with TLS", a.secure, func(c *Config) {
			c.APIAddress, c.AdvertiseAPI = "0.0.0.0:0", "127.0.0.1:7420"
			c.PeerAddress, c.AdvertisePeer = "0.0.0.0:0", "127.0.0.1:7421"
			c.AdminAddress = "0.0.0.0:0"
		}, "", ""},
		{"loopback only", plain, func(c *Config) { c.AdminAddress = "localhost:0" }, "", ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			cfg, log := testConfig(t, "gk1")
			c.secure(&cfg)
			c.listen(&cfg)
			if c.field == "" {
				if err := cfg.Check(); err != nil {
					t.Errorf("Check() = %v", err)
				}
				open(t, cfg)
				if strings.Contains(log.String(), "INSECURE") || strings.Contains(log.String(), "does not authenticate callers") {
					t.Error("log contains a warning about an unauthenticated port")
				}
				return
			}
			_, err := Open(bounded(t), cfg)
			e, ok := errors.AsType[*ConfigError](err)
			if !ok || e.Field != c.field || !strings.Contains(e.Rule, c.refusal) || !strings.Contains(e.Rule, "--insecure") {
				t.Fatalf("Open = %v, want a ConfigError for %s containing %q", err, c.field, c.refusal)
			}
			checked, ok := errors.AsType[*ConfigError](cfg.Check())
			if !ok || checked.Field != e.Field || checked.Rule != e.Rule {
				t.Errorf("Check = %v, want %v", checked, e)
			}
			if _, err := os.Stat(cfg.DataDir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the data directory was created: %v", err)
			}
			cfg.Insecure = true
			open(t, cfg)
			if n := strings.Count(log.String(), "does not authenticate callers"); n != 1 || !strings.Contains(log.String(), `level=WARN msg="INSECURE`) {
				t.Errorf("got warnings about %d ports, want 1", n)
			}
		})
	}
}

func TestGetStatus_Insecure_IsReported(t *testing.T) {
	t.Parallel()
	for _, insecure := range []bool{false, true} {
		cfg, _ := testConfig(t, "gk1")
		cfg.Insecure = insecure
		registry := prometheus.NewRegistry()
		cfg.Registerer = registry
		s, c := openReady(t, cfg)
		st, err := c.GetStatus(bounded(t), &gatekeeperv1.GetStatusRequest{})
		if err != nil || st.GetInsecure() != insecure {
			t.Errorf("%s: Insecure = %t, %v, want %t", s.cfg.ID, st.GetInsecure(), err, insecure)
		}
		want := map[bool]string{false: "0", true: "1"}[insecure]
		err = testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP gatekeeper_insecure 1 if the server was started with --insecure, else 0.
# TYPE gatekeeper_insecure gauge
gatekeeper_insecure `+want+"\n"), "gatekeeper_insecure")
		if err != nil {
			t.Error(err)
		}
	}
}
