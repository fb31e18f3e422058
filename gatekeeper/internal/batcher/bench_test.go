package batcher

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// instant answers every entry before Append returns, without looking into it, so that the batcher's own cost is measured.
type instant struct{ commands *atomic.Int64 }

type applied struct{ results []fsm.Result }

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (a applied) Done() <-chan struct{}                  { return closed }
func (a applied) Results() ([]fsm.Result, uint64, error) { return a.results, 1, nil }

func (l instant) Append(e []byte) applied {
	l.commands.Add(int64(len(e)))
	return applied{make([]fsm.Result, len(e))}
}

// newInstant returns a batcher whose entries have one byte a command.
func newInstant() *Batcher {
	b := New(instant{new(atomic.Int64)}, fixed)
	b.encode = func(_ uint32, cmds []fsm.Command) ([]byte, error) { return make([]byte, len(cmds)), nil }
	return b
}

func BenchmarkDo(bench *testing.B) {
	var cmd fsm.Command = fsm.Extend{Token: 1}
	for _, callers := range []int{1, 16, 256} {
		bench.Run("callers="+strconv.Itoa(callers), func(bench *testing.B) {
			b := newInstant()
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

// TestDo_Allocations_AreFew: the entry, its results and the fake's own are all there is; a caller brings nothing new.
func TestDo_Allocations_AreFew(t *testing.T) {
	b := newInstant()
	defer b.Close()
	var cmd fsm.Command = fsm.Extend{Token: 1}
	got := testing.AllocsPerRun(1000, func() {
		if o := b.Do(t.Context(), cmd); o.Err != nil {
			t.Error(o.Err)
		}
	})
	if got > 4 {
		t.Errorf("%.1f allocations a lone command, want at most 4", got)
	}
}
