package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/root"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// olderServer simulates an older server, which ignores unknown fields. It has one cordon and no definitions.
type olderServer struct {
	t       *testing.T
	removed []string // IDs of the removed cordons
}

// run runs gkctl and returns its exit code and output.
func (s *olderServer) run(args ...string) (int, string) {
	interceptor := grpc.WithUnaryInterceptor(func(
		_ context.Context, method string, req, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption,
	) error {
		switch req := req.(type) {
		case *gatekeeperv1.ListCordonsRequest:
			cordon := &gatekeeperv1.CordonRecord{Id: "acquirer:app7", AcquirerPattern: "app7", Author: "ann"}
			proto.Merge(reply.(proto.Message), &gatekeeperv1.ListCordonsResponse{Cordons: []*gatekeeperv1.CordonRecord{cordon}})
		case *gatekeeperv1.UncordonRequest:
			s.removed = append(s.removed, req.GetId())
		case *gatekeeperv1.ListDefinitionsRequest: // an empty response
		default:
			s.t.Errorf("unexpected call to %s", method)
		}
		return nil
	})
	var out bytes.Buffer
	f := &conn.Factory{
		IO: &ui.IO{In: &bytes.Buffer{}, Out: &out, Err: &out},
		Dial: func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
			return client.Dial(ctx, []string{"127.0.0.1:1"}, append(opts, client.WithGRPC(interceptor), client.WithLogger(slog.New(slog.DiscardHandler)))...)
		},
	}
	code := root.Execute(s.t.Context(), f, args)
	return code, out.String()
}

func TestUncordonDryRun_OlderServer_RemovesNothing(t *testing.T) {
	s := &olderServer{t: t}
	if code, out := s.run("uncordon", "--dry-run", "acquirer:app7"); code != ui.ExitOK || !strings.Contains(out, "would end") {
		t.Errorf("gkctl uncordon --dry-run: exit code %d, want 0; output:\n%s", code, out)
	}
	for id, suggestion := range map[string]string{"app7": `"acquirer:app7"`, "acquirer:app8": `"acquirer:app7"`} {
		code, out := s.run("uncordon", "--dry-run", id)
		if code != ui.ExitNoSuch || !strings.Contains(out, "did you mean "+suggestion) {
			t.Errorf("gkctl uncordon --dry-run %s: exit code %d, want 78 and a suggestion; output:\n%s", id, code, out)
		}
	}
	if len(s.removed) > 0 {
		t.Errorf("a dry run removed the cordons %q", s.removed)
	}
}

func TestDelete_OlderServerNoMatch_Fails(t *testing.T) {
	for _, args := range [][]string{{"typo-*"}, {"-l", "team=typo"}, {"typo-*", "-l", "team=typo"}} {
		s := &olderServer{t: t}
		code, out := s.run(append([]string{"delete", "--yes"}, args...)...)
		if code != ui.ExitNoSuch || !strings.Contains(out, args[len(args)-1]) {
			t.Errorf("gkctl delete %q: exit code %d, want 78; output:\n%s", args, code, out)
		}
	}
}
