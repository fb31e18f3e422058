package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/root"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// writerFunc adapts a function to io.Writer.
type writerFunc func(string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

func TestWatch_FromFutureRevision_PrintsNote(t *testing.T) {
	t.Parallel()
	w := newMoveCluster(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), awaitTimeout)
	defer cancel()
	var stderr string
	var out bytes.Buffer
	a := &conn.Factory{
		IO: &ui.IO{In: &bytes.Buffer{}, Out: &out, Err: writerFunc(func(s string) { stderr += s; cancel() })},
		Dial: func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
			return client.Dial(ctx, w.endpoints, opts...)
		},
	}
	if code := root.Execute(ctx, a, []string{"watch", "--from", "1000000"}); code != ui.ExitOK && code != ui.ExitInterrupted {
		t.Errorf("gkctl watch: exit code %d, want 0 or 130", code)
	}
	if !strings.Contains(stderr, "revision 1000000 is in the future; the cluster is at ") || out.Len() > 0 {
		t.Errorf("gkctl watch: standard error %q, want a note about the future revision; standard output %q, want none", stderr, &out)
	}
}

// missedEventsServer simulates a server that no longer stores the first events requested by a watcher.
type missedEventsServer struct {
	gatekeeperv1.UnimplementedWatchServiceServer
}

func (missedEventsServer) Watch(_ *gatekeeperv1.WatchRequest, stream grpc.ServerStreamingServer[gatekeeperv1.WatchResponse]) error {
	for _, r := range []*gatekeeperv1.WatchResponse{
		{Revision: 6},
		{Revision: 41, Missed: true},
		{Revision: 42, Events: []*gatekeeperv1.Event{{Revision: 42, Semaphore: "a", Kind: gatekeeperv1.EventKind_EVENT_KIND_DELETED}}},
	} {
		if err := stream.Send(r); err != nil {
			return err
		}
	}
	<-stream.Context().Done()
	return nil
}

func TestWatch_MissedEvents_PrintsNote(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	gatekeeperv1.RegisterWatchServiceServer(server, missedEventsServer{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for _, format := range []string{"table", "json"} {
		var out, stderr bytes.Buffer
		a := &conn.Factory{IO: &ui.IO{In: &bytes.Buffer{}, Out: &out, Err: &stderr}, Dial: func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
			return client.Dial(ctx, []string{listener.Addr().String()}, opts...)
		}}
		code := root.Execute(t.Context(), a, []string{"watch", "-n", "1", "-o", format})
		if code != ui.ExitOK || !strings.Contains(stderr.String(), "events up to revision 41 ") || !strings.Contains(out.String(), "42") {
			t.Errorf("gkctl watch -o %s: exit code %d, want 0; standard error:\n%s\nstandard output:\n%s", format, code, &stderr, &out)
		}
	}
}
