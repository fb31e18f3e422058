package lessor

import "container/heap"

// unscheduled is the index of a lease that is not in the schedule.
const unscheduled = -1

// schedule is a heap of leases by the time at which they are to be looked at.
type schedule []*lease

// set puts the lease at that time and tells whether it is now the first.
func (s *schedule) set(le *lease, at moment) (first bool) {
	le.at = at
	if le.index == unscheduled {
		heap.Push(s, le)
	} else {
		heap.Fix(s, int(le.index))
	}
	return le.index == 0
}

func (s *schedule) remove(le *lease) {
	if le.index != unscheduled {
		heap.Remove(s, int(le.index))
	}
}

func (s *schedule) pop() *lease { return heap.Pop(s).(*lease) } //nolint:forcetypeassert // it holds nothing else

// Len, Less, Swap, Push and Pop are heap.Interface.
func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].at < s[j].at }
func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = int32(i), int32(j) //nolint:gosec // nobody has so many
}

// Push is heap.Interface's.
func (s *schedule) Push(x any) {
	le := x.(*lease)          //nolint:forcetypeassert // it holds nothing else
	le.index = int32(len(*s)) //nolint:gosec // nobody has so many
	*s = append(*s, le)
}

// Pop is heap.Interface's.
func (s *schedule) Pop() any {
	old := *s
	le := old[len(old)-1]
	old[len(old)-1] = nil
	*s = old[:len(old)-1]
	le.index = unscheduled
	return le
}
