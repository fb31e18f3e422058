package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	"github.com/gatekeeperd/gatekeeper/internal/oidctest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// awaitTimeout limits how long scripts wait. It is generous because test machines may be busy.
const awaitTimeout = 60 * time.Second

// await runs a program repeatedly until it succeeds and its output matches, for at most a minute: await PATTERN PROGRAM
// ARGUMENT...
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await PATTERN PROGRAM ARGUMENT...")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), awaitTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = ts.Exec(args[1], args[2:]...); err == nil && pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			ts.Fatalf("%q did not print %q within %s (%v):\n%s", args[1:], args[0], awaitTimeout, err, ts.ReadFile("stdout"))
		}
	}
}

// waitSettled waits until a server is ready and the cluster has raised its feature level. Raising the level creates the
// cluster's first revision.
func waitSettled(ctx context.Context, s *gatekeeper.Server) error {
	if err := s.Ready(ctx); err != nil {
		return err
	}
	c, err := client.Dial(ctx, []string{s.APIAddress()})
	if err != nil {
		return err
	}
	defer c.Close()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		status, err := c.Cluster().GetStatus(ctx, new(gatekeeperv1.GetStatusRequest))
		if err == nil && status.GetFeatureLevel() >= fsm.SupportedLevel {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// fleet holds the servers that a script has started, keyed by id.
type fleet map[string]*gatekeeper.Server

// serve starts a cluster of COUNT servers and sets GK_ENDPOINTS to their addresses: serve COUNT
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve COUNT")
	}
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	listeners := make([]net.Listener, count)
	members := make([]gatekeeper.Member, count)
	for i := range count {
		listeners[i], err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		ts.Check(err)
		members[i] = gatekeeper.Member{ID: fmt.Sprintf("gk%d", i+1), PeerAddress: listeners[i].Addr().String()}
	}
	started := ts.Value("fleet").(fleet)
	var endpoints []string
	ctx, cancel := context.WithTimeout(context.Background(), awaitTimeout)
	defer cancel()
	servers, err := openAll(ctx, members, listeners, ts.MkAbs("."))
	for i, s := range servers {
		if s != nil {
			started[members[i].ID] = s
			ts.Defer(func() { started.shutdown(ts, members[i].ID) })
			endpoints = append(endpoints, s.APIAddress())
		}
	}
	ts.Check(err)
	for _, s := range started {
		ts.Check(waitSettled(ctx, s))
	}
	ts.Setenv("GK_ENDPOINTS", strings.Join(endpoints, ","))
}

// secure starts a server with the certificates in a directory and sets GK_ENDPOINTS to its address: secure ID DIRECTORY
// [--insecure] [--bearer-tokens] [--oidc]. The administrator is alice. With --oidc, the server accepts the tokens that
// the jwt command writes.
func secure(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: secure ID DIRECTORY [--insecure] [--bearer-tokens] [--oidc]")
	}
	id, file := args[0], func(name string) string { return filepath.Join(ts.MkAbs(args[1]), name) }
	ctx, cancel := context.WithTimeout(context.Background(), awaitTimeout)
	defer cancel()
	var oidc gatekeeper.OIDC
	if slices.Contains(args[2:], "--oidc") {
		oidc = gatekeeper.OIDC{Issuer: issuer, Audience: audience, KeysFile: ts.MkAbs("jwks.json")}
		ts.Check(os.WriteFile(oidc.KeysFile, oidctest.Set(issuerKey()), 0o600))
	}
	s, err := gatekeeper.Open(ctx, gatekeeper.Config{
		ID: id, DataDir: filepath.Join(ts.MkAbs("."), "."+id), APIAddress: "127.0.0.1:0", PeerAddress: "127.0.0.1:0", OIDC: oidc,
		Insecure: slices.Contains(args[2:], "--insecure"), BearerTokens: slices.Contains(args[2:], "--bearer-tokens"), Admin: "cert:alice",
		TLS:     gatekeeper.TLS{CertFile: file("server-" + id + ".crt"), KeyFile: file("server-" + id + ".key"), CAFile: file("ca.crt")},
		PeerTLS: gatekeeper.TLS{CertFile: file("peer-" + id + ".crt"), KeyFile: file("peer-" + id + ".key"), CAFile: file("peer-ca.crt")},
		Logger:  slog.New(slog.DiscardHandler),
	})
	ts.Check(err)
	started := ts.Value("fleet").(fleet)
	started[id] = s
	ts.Defer(func() { started.shutdown(ts, id) })
	ts.Check(s.Ready(ctx))
	ts.Setenv("GK_ENDPOINTS", s.APIAddress())
}

// expire replaces a client's certificate with an expired one: expire DIRECTORY NAME
func expire(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: expire DIRECTORY NAME")
	}
	files := func(name string) authority.Files {
		path := filepath.Join(ts.MkAbs(args[0]), name)
		return authority.Files{Cert: path + ".crt", Key: path + ".key"}
	}
	ca, err := authority.Read(files("ca"))
	ts.Check(err)
	pair, err := ca.Issue(authority.Leaf{Name: args[1], Client: true, Lifetime: time.Second}, time.Now().Add(-time.Minute))
	ts.Check(err)
	ts.Check(pair.Write(files("client-" + args[1])))
}

// Issuer and audience of the JWTs used in scripts.
const issuer, audience = "https://kubernetes.default.svc.cluster.local", "gatekeeper"

var issuerKey = sync.OnceValue(func() *oidctest.Key { return oidctest.NewRSAKey("k1") })

// writeJWT writes a service account's JWT, with additional claims: jwt FILE NAMESPACE NAME [CLAIM=VALUE...]. A
// value that contains a comma becomes a list.
func writeJWT(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: jwt FILE NAMESPACE NAME [CLAIM=VALUE...]")
	}
	claims := oidctest.ServiceAccount(issuer, audience, args[1], args[2])
	for _, arg := range args[3:] {
		claim, value, _ := strings.Cut(arg, "=")
		claims[claim] = value
		if list := strings.Split(value, ","); len(list) > 1 {
			claims[claim] = list
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(issuerKey().Sign(claims)), 0o600))
}

// openAll opens the servers of a new cluster concurrently, because they wait for each other. Their data directories are
// created in dir.
func openAll(ctx context.Context, members []gatekeeper.Member, listeners []net.Listener, dir string) ([]*gatekeeper.Server, error) {
	servers, errs := make([]*gatekeeper.Server, len(members)), make([]error, len(members))
	var opening sync.WaitGroup
	for i, m := range members {
		opening.Go(func() {
			servers[i], errs[i] = gatekeeper.Open(ctx, gatekeeper.Config{
				ID: m.ID, Members: members, DataDir: filepath.Join(dir, "."+m.ID),
				APIAddress: "127.0.0.1:0", Listeners: gatekeeper.Listeners{Peer: listeners[i]},
				Logger: slog.New(slog.DiscardHandler),
			})
		})
	}
	opening.Wait()
	return servers, errors.Join(errs...)
}

// shutdownServers shuts down servers started by the script: shutdown ID...
func shutdownServers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: shutdown ID...")
	}
	for _, id := range args {
		ts.Value("fleet").(fleet).shutdown(ts, id)
	}
}

func (f fleet) shutdown(ts *testscript.TestScript, id string) {
	s := f[id]
	delete(f, id)
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), awaitTimeout)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		ts.Logf("close %s: %v", id, err)
	}
}
