package timers

import (
	"container/heap"
	"slices"
	"time"
)

// planned is an end and when it is due.
type planned struct {
	end end
	at  time.Time
}

// schedule is a heap of ends by the time at which they are due.
type schedule []planned

// add puts an end on the schedule and tells whether it is now the first.
func (s *schedule) add(e end, at time.Time) (first bool) {
	heap.Push(s, planned{e, at})
	return (*s)[0].end == e
}

// take moves what is due at now to the end of due.
func (s *schedule) take(due []end, now time.Time) []end {
	for len(*s) > 0 && !(*s)[0].at.After(now) {
		due = append(due, heap.Pop(s).(planned).end) //nolint:forcetypeassert // it holds nothing else
	}
	return due
}

// drop takes off the schedule what over says so of.
func (s *schedule) drop(over func(end) bool) {
	*s = slices.DeleteFunc(*s, func(p planned) bool { return over(p.end) })
	heap.Init(s)
}

// Len, Less and Swap are heap.Interface's.
func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].at.Before(s[j].at) }
func (s schedule) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// Push is heap.Interface's.
func (s *schedule) Push(x any) { *s = append(*s, x.(planned)) } //nolint:forcetypeassert // it holds nothing else

// Pop is heap.Interface's.
func (s *schedule) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}
