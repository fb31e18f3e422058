package client

import (
	"container/heap"
	"time"
)

// A renewer's schedules. Each orders permits by one of their times.
const (
	byEvent   = iota // when the context or belief ends
	byRefresh        // when the next refresh is due
	numSchedules
)

// schedule is a heap of permits, ordered by one of their times.
type schedule struct {
	permits []*Permit
	by      int
}

// first returns the permit with the earliest time; nil if there is none.
func (s *schedule) first() *Permit {
	if len(s.permits) == 0 {
		return nil
	}
	return s.permits[0]
}

// set adds p, or changes its time.
func (s *schedule) set(p *Permit, at time.Duration) {
	p.at[s.by] = at
	if p.index[s.by] < 0 {
		heap.Push((*byTime)(s), p)
		return
	}
	heap.Fix((*byTime)(s), p.index[s.by])
}

// remove removes p if it is scheduled.
func (s *schedule) remove(p *Permit) {
	if p.index[s.by] >= 0 {
		heap.Remove((*byTime)(s), p.index[s.by])
	}
}

// byTime implements heap.Interface for a schedule.
type byTime schedule

func (s *byTime) Len() int           { return len(s.permits) }
func (s *byTime) Less(i, j int) bool { return s.permits[i].at[s.by] < s.permits[j].at[s.by] }

func (s *byTime) Swap(i, j int) {
	s.permits[i], s.permits[j] = s.permits[j], s.permits[i]
	s.permits[i].index[s.by], s.permits[j].index[s.by] = i, j
}

func (s *byTime) Push(x any) {
	p := x.(*Permit) //nolint:forcetypeassert // only permits are pushed
	p.index[s.by] = len(s.permits)
	s.permits = append(s.permits, p)
}

func (s *byTime) Pop() any {
	n := len(s.permits) - 1
	p := s.permits[n]
	s.permits[n] = nil
	s.permits = s.permits[:n]
	p.index[s.by] = -1
	return p
}
