// Package e2e tests the service end to end, with gatekeeperd processes on loopback that are killed and suspended while
// clients hold and request permits. Holders record when they rely on a permit, so that overlaps can be detected.
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"
)

var bin string

func TestMain(m *testing.M) {
	if text := os.Getenv(floodEnv); text != "" { // this process was started by a test
		if err := runFlood(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := func() int {
		dir, err := os.MkdirTemp("", "gatekeeper-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		bin = dir
		if _, err := servers.Build(dir, "cmd/gatekeeperd"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// start starts a cluster and creates semaphores with the given durations and one permit each. args are additional
// gatekeeperd flags.
func start(t *testing.T, count int, semaphores map[string]time.Duration, args ...string) *servers.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cluster, err := servers.Start(ctx, servers.Options{Binary: filepath.Join(bin, "gatekeeperd"), Dir: t.TempDir(), Count: count, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for _, s := range cluster.Servers {
				t.Logf("log of %s:\n%s", s.ID, s.LogTail())
			}
		}
		cluster.Kill()
	})
	conn, err := cluster.Servers[0].Conn()
	if err != nil {
		t.Fatal(err)
	}
	var edits []*gatekeeperv1.Edit
	for name, duration := range semaphores {
		def := &gatekeeperv1.Definition{Name: name, Duration: durationpb.New(duration)}
		edits = append(edits, &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: def}})
	}
	if _, err := gatekeeperv1.NewDefinitionServiceClient(conn).BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{Edits: edits, Author: "e2e"}); err != nil {
		t.Fatal(err)
	}
	return cluster
}

func leader(t *testing.T, cluster *servers.Cluster) *servers.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := cluster.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
