package batcher

import (
	"strconv"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// instantLog completes every entry before Append returns, without decoding it, so that benchmarks measure only the
// batcher.
type instantLog struct{}

func (instantLog) Append(e []byte) *consensus.Pending {
	p, end := consensus.NewPending()
	end(consensus.Appended{Index: 1, Results: make([]fsm.Result, len(e))})
	return p
}

// newInstantBatcher returns a batcher whose entries have one byte per command.
func newInstantBatcher() *Batcher {
	b := New(instantLog{}, fixedLevel)
	b.encode = func(_ uint32, cmds []fsm.Command) ([]byte, error) { return make([]byte, len(cmds)), nil }
	return b
}

func BenchmarkDo(bench *testing.B) {
	var cmd fsm.Command = fsm.Extend{Token: 1}
	for _, callers := range []int{1, 16, 256} {
		bench.Run("callers="+strconv.Itoa(callers), func(bench *testing.B) {
			b := newInstantBatcher()
			defer b.Close()
			bench.ReportAllocs()
			bench.SetParallelism((callers + 1) / 2)
			bench.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if o := b.Do(bench.Context(), cmd); o.Err != nil {
						bench.Error(o.Err)
					}
				}
			})
		})
	}
}

// A single command allocates its entry, the log's Pending and its results. The batcher itself does not allocate.
func TestDo_SingleCommand_LimitsAllocations(t *testing.T) {
	b := newInstantBatcher()
	defer b.Close()
	var cmd fsm.Command = fsm.Extend{Token: 1}
	got := testing.AllocsPerRun(1000, func() {
		if o := b.Do(t.Context(), cmd); o.Err != nil {
			t.Error(o.Err)
		}
	})
	if got > 6 { // the race detector sometimes empties pools
		t.Errorf("got %.1f allocations for a single command, want at most 6", got)
	}
}
