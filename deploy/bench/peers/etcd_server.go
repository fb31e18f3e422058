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

// member says what one server of etcd is started with; everything else is etcd's default.
type member struct {
	Name    string
	Dir     string
	Client  string // host:port
	Peer    string // host:port
	Cluster string // name=http://host:port, with commas between
	// Timing is etcd's default when it is not set.
	Timing timing
}

// timing is how soon etcd replaces a dead leader.
type timing struct{ HeartbeatMs, ElectionMs uint }

// serveEtcd is a server of etcd, in a separate process, until its standard input ends.
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

	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-told:
		return nil
	case err := <-e.Err():
		return err
	case <-e.Server.StopNotify():
		return errors.New("the server stopped unexpectedly")
	}
}
