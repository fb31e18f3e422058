package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/ports"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func start(t *testing.T, definitions string) (*options, *output, context.CancelFunc, chan error) {
	t.Helper()
	bin := t.TempDir()
	if _, err := servers.Build(bin, "cmd/gatekeeperd"); err != nil {
		t.Fatal(err)
	}
	free, err := ports.Free(4)
	if err != nil {
		t.Fatal(err)
	}
	o := &options{bin: bin, data: filepath.Join(t.TempDir(), "data"), definitions: definitions, api: free[0], peer: free[1],
		http: free[2], admin: free[3]}
	ctx, cancel := context.WithCancel(t.Context())
	out := &output{written: make(chan struct{}, 1)}
	done := make(chan error, 1)
	go func() { done <- o.run(ctx, out) }()
	return o, out, cancel, done
}

func TestRun_LoadsDefinitions_PrintsCommands_AndStops(t *testing.T) {
	o, out, cancel, done := start(t, "../samples/kubernetes.yaml")
	defer cancel()
	select {
	case <-out.written:
	case err := <-done:
		t.Fatal(err)
	case <-time.After(time.Minute):
		t.Fatal("timed out waiting for output")
	}
	for _, want := range []string{"gkctl get", "gkctl explain", "gkctl holders", o.api, "http://" + o.http, "1342 definitions"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, out)
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+o.api, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	status, err := gatekeeperv1.NewClusterServiceClient(conn).GetStatus(t.Context(), &gatekeeperv1.GetStatusRequest{})
	if err != nil || status.Definitions != 1335+7 {
		t.Errorf("got %d definitions (%v), want 1335 jobs and 7 pools", status.GetDefinitions(), err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("run() = %v, want nil", err)
	}
}

func TestRun_ServerCannotStart_ReportsError(t *testing.T) {
	_, _, cancel, done := start(t, "no-such-file.yaml")
	defer cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "no-such-file.yaml") {
		t.Errorf("run() = %v, want an error that names the file", err)
	}
}

func TestRun_AddressInUse_IsReported(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := ports.Free(3)
	if err != nil {
		t.Fatal(err)
	}
	o := &options{bin: "no-such-folder", data: t.TempDir(), api: taken.Addr().String(), peer: free[0], http: free[1], admin: free[2]}
	if err := o.run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "Is another server running?") {
		t.Errorf("run() = %v, want an error about the address in use", err)
	}
}

// output records the program's output. written receives a value after a write.
type output struct {
	written chan struct{}
	mu      sync.Mutex // guards text
	text    bytes.Buffer
}

func (w *output) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.written <- struct{}{}:
	default:
	}
	return w.text.Write(p)
}

func (w *output) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
