package gatekeeper

import (
	"context"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Expiry waits for frames that have already arrived. If a client sends but never reads, its responses back up and its
// frames are never processed, but other clients' permits must still expire.
func TestKeepAlive_ResponsesNotRead_PermitsStillExpire(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s, c := openReady(t, cfg)
	_, err := c.CreateDefinition(bounded(t), &gatekeeperv1.CreateDefinitionRequest{Author: "test", Definition: &gatekeeperv1.Definition{
		Name: "job", Permits: proto.Uint32(1), Duration: durationpb.New(time.Second),
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context()) // outlasts the test's own timeouts
	defer cancel()
	stream, err := c.KeepAlive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	unknown := make([]*gatekeeperv1.TokenRefresh, 1000)
	for i := range unknown {
		unknown[i] = &gatekeeperv1.TokenRefresh{Token: 1<<40 + uint64(i), Duration: durationpb.New(time.Second)}
	}
	var sending sync.WaitGroup
	sending.Go(func() { // more than a stream can buffer in either direction
		for n := uint64(1); stream.Send(&gatekeeperv1.KeepAliveRequest{Frame: n, Tokens: unknown}) == nil; n++ {
			continue
		}
	})
	c.grant(t, "job", "app1")
	eventually(t, func() bool { return s.machine.State().HolderCount("job") == 0 })
	cancel()
	sending.Wait()
}
