package epoch

import (
	"container/heap"
	"testing"

	"pgregory.net/rapid"
)

type job struct{ at, index int }

func (j *job) Before(other *job) bool { return j.at < other.at }
func (j *job) Moved(index int)        { j.index = index }

func TestHeap_RandomOperations_PopsEarliestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[*job]
		all := make([]*job, rapid.IntRange(1, 50).Draw(t, "jobs"))
		for i := range all {
			all[i] = &job{index: -1}
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			j := all[rapid.IntRange(0, len(all)-1).Draw(t, "job")]
			remove := rapid.Bool().Draw(t, "remove")
			j.at = rapid.IntRange(0, 1000).Draw(t, "at")
			switch {
			case j.index < 0:
				heap.Push(&h, j)
			case remove:
				if heap.Remove(&h, j.index) != any(j) || j.index != -1 {
					t.Fatal("Remove removed a different item")
				}
				continue
			default:
				heap.Fix(&h, j.index)
			}
			if h[j.index] != j {
				t.Fatal("Moved was called with the wrong index")
			}
		}
		for last := 0; len(h) > 0; {
			j := heap.Pop(&h).(*job)
			if j.at < last || j.index != -1 {
				t.Fatalf("popped %+v after an item at %d", j, last)
			}
			last = j.at
		}
	})
}
