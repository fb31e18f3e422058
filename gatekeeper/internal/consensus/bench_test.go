package consensus

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// benchCluster starts three members that store their data on disk and connect over loopback. It returns the leader.
func benchCluster(b *testing.B) *Node {
	var set []Member
	var listeners []net.Listener
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		listeners = append(listeners, l)
		set = append(set, Member{ID: fmt.Sprintf("gk%d", i+1), PeerAddress: l.Addr().String()})
	}
	var nodes []*Node
	for i, m := range set {
		dataDir, err := PrepareDataDir(DataDirConfig{Dir: b.TempDir(), MemberID: m.ID, ClusterName: "bench", Members: set, ClusterID: testClusterID})
		if err != nil {
			b.Fatal(err)
		}
		n, err := Open(Config{DataDir: dataDir, Machine: fsm.New(dataDir.ClusterID().String()), PeerListener: listeners[i], Members: set, Timeouts: FastTimeouts()})
		if err != nil {
			b.Fatal(err)
		}
		n.ObserveLeadership(newRecorder())
		b.Cleanup(func() { _ = n.Close(context.Background()) })
		nodes = append(nodes, n)
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		for _, n := range nodes {
			if term, leads := leads(n.raft); leads && n.promoted.Load() == term {
				return n
			}
		}
	}
	return nil
}

func BenchmarkConfirm(b *testing.B) {
	n := benchCluster(b)
	term := n.Term()
	for _, callers := range []int{1, 100, 2000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.SetParallelism(callers)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := n.Confirm(b.Context(), term, time.Now()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	n := benchCluster(b)
	entry, err := fsm.Encode(1, []fsm.Command{fsm.RetireMember{ID: "x"}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if a := n.Append(entry).Wait(); a.Err != nil {
			b.Fatal(a.Err)
		}
	}
}
