package epoch

import (
	"testing"

	"pgregory.net/rapid"
)

type job struct{ at, index int }

func (j *job) Before(other *job) bool { return j.at < other.at }
func (j *job) Moved(index int)        { j.index = index }

func TestHeap_AnyOrder_EarliestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[*job]
		all := make([]*job, rapid.IntRange(1, 50).Draw(t, "jobs"))
		for i := range all {
			all[i] = &job{index: -1}
		}
		in := 0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			j := all[rapid.IntRange(0, len(all)-1).Draw(t, "job")]
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				limit := rapid.IntRange(0, 1000).Draw(t, "limit")
				h.Filter(func(j *job) bool { return j.at < limit })
				in = 0
				for _, j := range all {
					if j.index >= 0 {
						in++
						if j.at >= limit {
							t.Fatal("it was filtered out, and has an index")
						}
					}
				}
			case 1, 2, 3:
				if j.index >= 0 {
					in--
					if h.Remove(j.index) != j || j.index != -1 {
						t.Fatal("another one was removed")
					}
				}
			default:
				j.at = rapid.IntRange(0, 1000).Draw(t, "at")
				if j.index >= 0 {
					h.Fix(j.index)
				} else {
					if first := h.Add(j); first != (h.First() == j) {
						t.Fatal("Add does not know whether it is the first")
					}
					in++
				}
				if (j.index == 0) != (h.First() == j) {
					t.Fatal("it does not know whether it is the first")
				}
			}
		}
		if h.Len() != in {
			t.Fatalf("%d are in the heap, want %d", h.Len(), in)
		}
		for last := 0; h.Len() > 0; in-- {
			first := h.First()
			if h.Remove(0) != first || first.at < last || first.index != -1 {
				t.Fatalf("the one at %d came after the one at %d", first.at, last)
			}
			last = first.at
		}
	})
}
