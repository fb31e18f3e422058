// Package servers runs gatekeeperd processes on loopback, each with a separate data directory. It is used by the demo,
// the bench, and tests that kill, suspend and restart servers.
package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/internal/ports"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Options configure a cluster. Binary and Dir are required.
type Options struct {
	// Binary is the gatekeeperd binary to run.
	Binary string
	// Dir contains a directory for each server, with its data and its log.
	Dir string
	// Count is the number of servers in the cluster. 0 means 1.
	Count int
	// Profile is the timing profile. Empty means the server's default.
	Profile string
	// LogStore is the kind of log store. Empty means the server's default.
	LogStore string
	// Definitions is a file with at least one definition to load. Empty means none.
	Definitions string
	// Args are additional flags for every server.
	Args []string
	// Secure configures TLS and authentication. If it is nil, the servers are open and use plaintext.
	Secure *Secure
	// Front, if set, is called for each server before it starts. It can put a proxy between the server and all others
	// by setting FrontAPI and FrontPeer, and can change where and how the server runs.
	Front func(*Server) error
}

// Cluster is a set of named servers, including those that joined later.
type Cluster struct {
	Servers []*Server

	opts Options
}

// Start starts the servers and waits until all of them are ready, the newest feature level is in force and the
// definitions are loaded. If it fails, it kills all servers. If a server did not become ready, the error ends with that
// server's log.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	count := max(opts.Count, 1)
	// The servers run in separate directories, where relative paths would not resolve.
	for _, path := range []*string{&opts.Binary, &opts.Dir, &opts.Definitions} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = abs
	}
	free, err := ports.Free(4 * count)
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts}
	var members []string
	for i := range count {
		s, err := c.server(fmt.Sprintf("gk%d", i+1), free[4*i:4*i+4])
		if err != nil {
			return nil, err
		}
		members = append(members, s.ID+"="+s.FrontPeer)
		c.Servers = append(c.Servers, s)
	}
	for _, s := range c.Servers {
		if count > 1 {
			s.args = append(s.args, "--members", strings.Join(members, ","))
		}
		if opts.Definitions != "" {
			s.args = append(s.args, "--definitions", opts.Definitions)
		}
		if err := s.Start(); err != nil {
			c.Kill()
			return nil, err
		}
	}
	for _, s := range c.Servers {
		if err := s.Ready(ctx); err != nil {
			c.Kill()
			return nil, fmt.Errorf("%w\n%s", err, s.LogTail())
		}
	}
	if err := c.awaitSetup(ctx, opts.Definitions != ""); err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

// server returns a server that has not been started yet. ports holds its API, peer, HTTP and admin addresses.
func (c *Cluster) server(id string, ports []string) (*Server, error) {
	s := &Server{
		ID: id, API: ports[0], Peer: ports[1], HTTP: ports[2], Admin: ports[3], FrontAPI: ports[0], FrontPeer: ports[1],
		binary: c.opts.Binary, dir: filepath.Join(c.opts.Dir, id), secure: c.opts.Secure,
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	if c.opts.Front != nil {
		if err := c.opts.Front(s); err != nil {
			return nil, err
		}
	}
	s.args = append([]string{
		"--id", s.ID,
		"--data-dir", s.Data(),
		"--api-address", s.listenAddress(s.API),
		"--peer-address", s.listenAddress(s.Peer),
		"--http-address", s.listenAddress(s.HTTP),
		"--admin-address", s.listenAddress(s.Admin),
	}, c.opts.Args...)
	switch {
	case s.secure != nil:
		files, err := s.secure.args(s.ID, s.API, s.Peer, s.FrontAPI, s.FrontPeer)
		if err != nil {
			return nil, err
		}
		s.args = append(s.args, files...)
	case s.AllAddresses:
		s.args = append(s.args, "--insecure")
	}
	if c.opts.Front != nil {
		s.args = append(s.args, "--advertise-api", s.FrontAPI, "--advertise-peer", s.FrontPeer)
	}
	if c.opts.Profile != "" {
		s.args = append(s.args, "--profile", c.opts.Profile)
	}
	if c.opts.LogStore != "" {
		s.args = append(s.args, "--log-store", c.opts.LogStore)
	}
	return s, nil
}

// listenAddress returns the address on which the server must listen to be reachable at the given address.
func (s *Server) listenAddress(address string) string {
	if !s.AllAddresses {
		return address
	}
	_, port, _ := net.SplitHostPort(address)
	return net.JoinHostPort("", port)
}

// Join starts a server with an unused id that joins the cluster. It does not wait until the server has joined.
func (c *Cluster) Join(id string) (*Server, error) {
	free, err := ports.Free(4)
	if err != nil {
		return nil, err
	}
	s, err := c.server(id, free)
	if err != nil {
		return nil, err
	}
	s.args = append(s.args, "--join", strings.Join(c.Endpoints(), ","))
	c.Servers = append(c.Servers, s)
	return s, s.Start()
}

// awaitSetup waits until the new leader has activated the newest feature level and loaded the definitions that it
// was started with. The leader does both in one step, after it becomes ready.
func (c *Cluster) awaitSetup(ctx context.Context, definitions bool) error {
	leader, err := c.Leader(ctx)
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		status, err := leader.Status(ctx)
		if err == nil && status.FeatureLevel >= fsm.SupportedLevel && (!definitions || status.Definitions > 0) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the newest feature level is not in force, or the definitions were not loaded: %w\n%s", errors.Join(ctx.Err(), err), leader.LogTail())
		}
	}
}

// Endpoints returns the API addresses of all servers.
func (c *Cluster) Endpoints() []string {
	var endpoints []string
	for _, s := range c.Servers {
		endpoints = append(endpoints, s.FrontAPI)
	}
	return endpoints
}

// Leader polls all running servers until one of them is the leader, and returns the leader with the highest term.
func (c *Cluster) Leader(ctx context.Context) (*Server, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var leader *Server
		var term uint64
		for _, s := range c.Servers {
			if !s.Running() {
				continue
			}
			status, err := s.Status(ctx)
			if err == nil && status.Role == gatekeeperv1.ServerRole_SERVER_ROLE_LEADER && status.Term >= term {
				leader, term = s, status.Term
			}
		}
		if leader != nil {
			return leader, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("no leader: %w", ctx.Err())
		}
	}
}

// Stop terminates all servers the way an operator would. It fails if one of them does not exit within 15 s, or exits
// with a code other than 0.
func (c *Cluster) Stop() error {
	var errs []error
	for _, s := range c.Servers {
		errs = append(errs, s.terminate())
	}
	for _, s := range c.Servers {
		errs = append(errs, s.awaitStop(15*time.Second))
		s.close()
	}
	return errors.Join(errs...)
}

// Kill kills all servers, regardless of their state.
func (c *Cluster) Kill() {
	for _, s := range c.Servers {
		s.Kill()
		s.close()
	}
}
