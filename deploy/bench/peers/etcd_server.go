package main

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// member configures an etcd server. All other settings are etcd's defaults.
type member struct {
	Name    string
	Dir     string
	Client  string // host:port
	Peer    string // host:port
	Cluster string // comma-separated list of name=http://host:port
	// Timing overrides etcd's default timing unless it is zero.
	Timing timing
}

// timing determines how soon etcd replaces a dead leader.
type timing struct{ HeartbeatMs, ElectionMs uint }

// serveEtcd runs an etcd server in this process until it receives SIGTERM.
func serveEtcd(text string) error {
	var m member
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir, cfg.InitialCluster = m.Name, m.Dir, m.Cluster
	cfg.LogLevel, cfg.LogOutputs = "warn", []string{embed.StdErrLogOutput}
	if m.Timing != (timing{}) {
		cfg.TickMs, cfg.ElectionMs = m.Timing.HeartbeatMs, m.Timing.ElectionMs
	}
	client, peer := []url.URL{{Scheme: "http", Host: m.Client}}, []url.URL{{Scheme: "http", Host: m.Peer}}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = client, client
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peer, peer

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-signals:
		return nil
	case err := <-e.Err():
		return err
	case <-e.Server.StopNotify():
		return errors.New("the server stopped unexpectedly")
	}
}
