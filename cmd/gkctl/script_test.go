package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/root"
	"github.com/gatekeeperd/gatekeeper/gatekeeper"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
)

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil { // these tests mostly wait and use little CPU time
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"gkctl": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			os.Exit(root.Execute(ctx, conn.New(os.Stdin, os.Stdout, os.Stderr), os.Args[1:]))
		},
	})
}

// TestScript runs each script in testdata/script against a separate server.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			server, err := gatekeeper.Open(t.Context(), gatekeeper.Config{
				DataDir:     filepath.Join(env.WorkDir, ".data"),
				APIAddress:  "127.0.0.1:0",
				PeerAddress: "127.0.0.1:0",
				Logger:      slog.New(slog.DiscardHandler),
			})
			if err != nil {
				return err
			}
			env.Defer(func() {
				if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			if err := waitSettled(t.Context(), server); err != nil {
				return err
			}
			env.Values["fleet"] = fleet{}
			env.Setenv("GK_ENDPOINTS", server.APIAddress())
			env.Setenv("GK_CONFIG", filepath.Join(env.WorkDir, "config.yaml"))
			env.Setenv("GK_AUTHOR", "alice@ops")
			env.Setenv("GK_ACQUIRER", "app1")
			env.Setenv("GK_GROUP", "prod")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"audited":  writeAudit,
			"await":    await,
			"expire":   expire,
			"jwt":      writeJWT,
			"keep":     keep,
			"many":     writeMany,
			"secure":   secure,
			"serve":    serve,
			"shutdown": shutdownServers,
			"status":   exitStatus,
		},
	})
}

// exitStatus runs gkctl and checks its exit code: status CODE ARGUMENT...
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: status CODE ARGUMENT...")
	}
	err := ts.Exec("gkctl", args[1:]...)
	code := 0
	if err != nil {
		e, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("gkctl: %v", err)
		}
		code = e.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("gkctl exited with %d, want %s", code, args[0])
	}
}

// writeMany writes a file containing COUNT definitions: many COUNT FILE
func writeMany(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := []byte("definitions:\n")
	for i := range count {
		text = fmt.Appendf(text, "  - {name: job-%04d, labels: {set: many}, group_pattern: \"zone-%d\", duration: 30s}\n", i, i%7)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o600))
}

// writeAudit appends COUNT lines to an audit log, including a server's start and stop: audited COUNT FILE
func writeAudit(ts *testscript.TestScript, _ bool, args []string) {
	count, err := strconv.Atoi(args[0])
	ts.Check(err)
	log, err := audit.Open(audit.Config{Path: ts.MkAbs(args[1]), Server: "gk1", Logger: slog.New(slog.DiscardHandler)})
	ts.Check(err)
	for range count - 2 {
		log.Write(audit.Record{Principal: "shop", Method: "Pause", Decision: audit.Refused, Reason: "operator"})
	}
	ts.Check(log.Close())
}

// keep stores the output of the last command in a variable, without trailing newlines: keep NAME
func keep(ts *testscript.TestScript, _ bool, args []string) {
	out := ts.ReadFile("stdout")
	for len(out) > 0 && out[len(out)-1] == '\n' {
		out = out[:len(out)-1]
	}
	ts.Setenv(args[0], out)
}
