package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// A sample is attributed to the part of its innermost known function, regardless of that function's callers.
func TestSharesOf_InnermostKnownFrameDecides(t *testing.T) {
	stack := func(nanos int64, names ...string) *profile.Sample {
		s := &profile.Sample{Value: []int64{1, nanos}}
		for _, name := range names {
			s.Location = append(s.Location, &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}})
		}
		return s
	}
	handler := modulePath + "gatekeeper/internal/api.(*permitService).TryAcquire"
	p := &profile.Profile{Sample: []*profile.Sample{
		stack(400, "runtime.mallocgc", "google.golang.org/protobuf/proto.Unmarshal", handler, "google.golang.org/grpc.(*Server).processUnaryRPC"),
		stack(300, "runtime.mapaccess1", modulePath+"gatekeeper/internal/keeper.(*Keeper).TryAcquire", handler),
		stack(200, "runtime.futex", "runtime.mcall"),
		stack(60, "runtime.scanobject", "runtime.gcBgMarkWorker"),
		stack(40, "syscall.write", "github.com/hashicorp/raft-wal.(*WAL).StoreLogs", modulePath+"gatekeeper/internal/consensus/store.(*Log).StoreLogs", "github.com/hashicorp/raft.(*Raft).runLeader"),
	}}
	total, shares := sharesOf(p)
	want := []share{{"gRPC and protobuf", 40}, {"decisions and deadlines", 30}, {elsewhere, 20}, {"garbage collection", 6}, {"log store", 4}}
	if total != 1000 || len(shares) != len(want) {
		t.Fatalf("sharesOf() = %v ns, %v, want 1000 ns, %v", total, shares, want)
	}
	for i := range want {
		if shares[i] != want[i] {
			t.Errorf("got share %v, want %v", shares[i], want[i])
		}
	}
}

func TestProfile_Leader_PrintsEveryWorkload(t *testing.T) {
	b := bench{bin: t.TempDir(), windows: windows{window: time.Second, count: 1}, permits: 1, keepFor: twoRefreshes, runs: 1}
	if _, err := servers.Build(b.bin, "cmd/gatekeeperd"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.run(t.Context(), &out, partProfile, "3", "4", ""); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, line := range []string{"denials, 4 callers: ", "refreshes by stream, one per frame, 4 callers: ", "pairs, 4 callers: ", "gRPC and protobuf"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("output does not contain %q:\n%s", line, &out)
		}
	}
}
