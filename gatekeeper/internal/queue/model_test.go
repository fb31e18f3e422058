package queue

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// model is a naive implementation of a queue: one slice per semaphore, searched from the front.
type model struct {
	lines  map[string][]*modelWaiter
	gather time.Time
}

type modelWaiter struct {
	key      Key
	weight   uint32
	firing   bool
	worker   bool
	joined   time.Time
	gathered bool
	call     *call
	until    time.Time
	offered  bool
	impl     *Waiter[*call]
}

func (m *model) find(k Key) *modelWaiter {
	for _, w := range m.lines[k.Semaphore] {
		if w.key == k {
			return w
		}
	}
	return nil
}

// hasWaiter reports whether the acquirer already has an acquisition waiting. Workers and acquisitions with a firing
// do not count.
func (m *model) hasWaiter(k Key) bool {
	return slices.ContainsFunc(m.lines[k.Semaphore], func(w *modelWaiter) bool { return w.key.Identity == k.Identity && !w.firing && !w.worker })
}

func (m *model) join(w *modelWaiter) {
	line := m.lines[w.key.Semaphore]
	at := len(line)
	if w.gathered {
		at = slices.IndexFunc(line, func(o *modelWaiter) bool { return !o.gathered || o.joined.After(w.joined) })
		if at < 0 {
			at = len(line)
		}
	}
	m.lines[w.key.Semaphore] = slices.Insert(line, at, w)
}

func (m *model) remove(match func(*modelWaiter) bool) (keys []Key) {
	for sem, line := range m.lines {
		m.lines[sem] = slices.DeleteFunc(line, func(w *modelWaiter) bool {
			if !match(w) {
				return false
			}
			keys = append(keys, w.key)
			return true
		})
	}
	return keys
}

func (m *model) offer(sem string, free, tasks uint64) (keys []Key) {
	for _, w := range m.lines[sem] {
		if w.offered {
			free -= min(free, uint64(w.weight))
			if w.worker {
				tasks -= min(tasks, 1)
			}
		}
	}
	for _, w := range m.lines[sem] {
		switch {
		case w.offered || w.call == nil || w.worker && tasks == 0:
		case uint64(w.weight) > free:
			return keys
		default:
			free -= uint64(w.weight)
			w.offered = true
			if w.worker {
				tasks--
			}
			keys = append(keys, w.key)
		}
	}
	return keys
}

// ahead reports whether a waiter is ahead of index at. Workers count only if tasks are waiting or a worker is being
// offered a permit.
func (m *model) ahead(sem string, at int, tasks uint64) bool {
	line := m.lines[sem]
	workersCount := tasks > 0 || slices.ContainsFunc(line, func(w *modelWaiter) bool { return w.worker && w.offered })
	return slices.ContainsFunc(line[:at], func(w *modelWaiter) bool { return !w.worker || workersCount })
}

// length returns the number of waiters in part of a line. The number of workers that count is limited to the number of
// waiting tasks, or to the number of workers that are being offered a permit if that is larger.
func (m *model) length(sem string, part []*modelWaiter, tasks uint64) (n int) {
	offered := uint64(0)
	for _, w := range m.lines[sem] {
		if w.worker && w.offered {
			offered++
		}
	}
	left := max(tasks, offered)
	for _, w := range part {
		if w.worker && left == 0 {
			continue
		}
		if w.worker {
			left--
		}
		n++
	}
	return n
}

func keysOf(ws []*Waiter[*call]) (keys []Key) {
	for _, w := range ws {
		keys = append(keys, w.Key)
	}
	return keys
}

func sameKeys(a, b []Key) bool {
	byName := func(x, y Key) int {
		return slices.Compare([]string{x.Semaphore, x.Identity.Acquirer, x.RequestID}, []string{y.Semaphore, y.Identity.Acquirer, y.RequestID})
	}
	slices.SortFunc(a, byName)
	slices.SortFunc(b, byName)
	return slices.Equal(a, b)
}

func TestQueue_RandomOperations_MatchModel(t *testing.T) {
	sems := []string{"a", "b"}
	rapid.Check(t, func(t *rapid.T) {
		q := New[*call]()
		m := &model{lines: map[string][]*modelWaiter{}}
		now := start
		if rapid.Bool().Draw(t, "gathering") {
			m.gather = start.Add(3 * time.Second)
			q.Gather(m.gather)
		}
		drawKey := func(t *rapid.T) Key {
			k := key(rapid.SampledFrom(sems).Draw(t, "sem"), rapid.IntRange(0, 6).Draw(t, "n"))
			k.RequestID = rapid.SampledFrom([]string{"r", "s"}).Draw(t, "request id")
			return k
		}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "ms")) * time.Millisecond)
			},
			"join": func(t *rapid.T) {
				k, c := drawKey(t), &call{}
				weight := uint32(rapid.IntRange(1, 4).Draw(t, "weight"))
				claim := time.Duration(rapid.IntRange(-1, 800).Draw(t, "claim")) * time.Second
				join, exclusive, firing := q.Join, rapid.Bool().Draw(t, "exclusive"), rapid.Bool().Draw(t, "firing")
				if exclusive {
					join = q.JoinExclusive
				}
				worker := !firing && rapid.Bool().Draw(t, "worker")
				request := semaphore.Request{Weight: weight, Worker: worker}
				if firing {
					request.Firing = &semaphore.Firing{Name: "f"}
				}
				impl, replaced := join(k, request, nil, c, now, claim)
				var want *call
				w := m.find(k)
				if w == nil && exclusive && !firing && !worker && m.hasWaiter(k) {
					if impl != nil || replaced != nil {
						t.Fatalf("JoinExclusive(%v) added a second waiter for the acquirer", k)
					}
					return
				}
				if w == nil {
					w = &modelWaiter{key: k, firing: firing, worker: worker, weight: weight, joined: now.Add(-min(max(claim, 0), 10*time.Minute)), gathered: now.Before(m.gather), impl: impl}
					m.join(w)
				} else {
					want = w.call
				}
				w.call = c
				if replaced != want || w.impl != impl {
					t.Fatalf("Join() replaced %p, want %p; returned %p, want %p", replaced, want, impl, w.impl)
				}
			},
			"detach": func(t *rapid.T) {
				w := m.find(drawKey(t))
				if w == nil {
					return
				}
				c := w.call
				if rapid.Bool().Draw(t, "older call") {
					c = &call{}
				}
				if q.Detach(w.impl, c, now); c != nil && c == w.call {
					w.call, w.until = nil, now.Add(Linger)
				}
			},
			"leave": func(t *rapid.T) {
				k := drawKey(t)
				var want *call
				w := m.find(k)
				if w != nil {
					want = w.call
				}
				if got, known := q.Leave(k); got != want || known != (w != nil) {
					t.Fatalf("Leave() = %p, %v, want %p", got, known, want)
				}
				m.remove(func(o *modelWaiter) bool { return o == w })
			},
			"offer": func(t *rapid.T) {
				sem, free := rapid.SampledFrom(sems).Draw(t, "sem"), rapid.Uint64Range(0, 12).Draw(t, "free")
				tasks := rapid.Uint64Range(0, 3).Draw(t, "tasks")
				got, want := keysOf(q.Offer(sem, free, tasks)), m.offer(sem, free, tasks)
				if !slices.Equal(got, want) {
					t.Fatalf("Offer() = %v, want %v", got, want)
				}
			},
			"return": func(t *rapid.T) {
				if w := m.find(drawKey(t)); w != nil {
					q.Return(w.impl)
					w.offered = false
				}
			},
			"expire": func(t *rapid.T) {
				got := keysOf(q.Expire(now))
				want := m.remove(func(w *modelWaiter) bool { return w.call == nil && !w.offered && !now.Before(w.until) })
				if !sameKeys(got, want) {
					t.Fatalf("Expire() = %v, want %v", got, want)
				}
			},
			"": func(t *rapid.T) {
				total := 0
				var next time.Time
				for _, sem := range sems {
					line := m.lines[sem]
					total += len(line)
					var want []Key
					for i, w := range line {
						want = append(want, w.key)
						if w.call == nil && !w.offered && (next.IsZero() || w.until.Before(next)) {
							next = w.until
						}
						for tasks := range uint64(3) {
							want, all := m.length(sem, line[:i+1], tasks), m.length(sem, line, tasks)
							if want == m.length(sem, line[:i], tasks) {
								want = 0 // an idle worker
							}
							if place, length := q.Place(w.impl, tasks); place != want || length != all {
								t.Fatalf("Place(%v) = %d of %d, want %d of %d", w.key, place, length, want, all)
							}
							if q.Ahead(sem, &w.key, tasks) != m.ahead(sem, i, tasks) || q.Call(w.impl) != w.call {
								t.Fatalf("%v at position %d: Ahead() is wrong, or Call() = %p, want %p", w.key, i, q.Call(w.impl), w.call)
							}
						}
					}
					if got := keysOf(q.Waiting(sem)); !slices.Equal(got, want) {
						t.Fatalf("Waiting() = %v, want %v", got, want)
					}
					if all, _ := q.Len(sem); all != len(want) || q.Length(sem, 1) != m.length(sem, line, 1) {
						t.Fatalf("Len() = %d, Length() with one task = %d, want %d, %d", all, q.Length(sem, 1), len(want), m.length(sem, line, 1))
					}
					for tasks := range uint64(2) {
						if got := q.Ahead(sem, nil, tasks); got != m.ahead(sem, len(line), tasks) {
							t.Fatalf("Ahead() for a new waiter = %v, want %v", got, !got)
						}
					}
				}
				if at, ok := q.NextExpiry(); ok == next.IsZero() || !at.Equal(next) {
					t.Fatalf("NextExpiry() = %v, %v, want %v", at, ok, next)
				}
				if got := q.Total(func(string) uint64 { return uint64(total) }); got != total {
					t.Fatalf("Total() = %d, want %d", got, total)
				}
			},
		})
	})
}

func filledQueue(n int) *Queue[*call] {
	q := New[*call]()
	for i := range n {
		q.Join(key("s", i), semaphore.Request{Weight: 1}, nil, &call{strconv.Itoa(i)}, start, 0)
	}
	return q
}

// BenchmarkQueue_LongLine measures operations on a line of ten thousand waiters.
func BenchmarkQueue_LongLine(b *testing.B) {
	const n = 10_000
	b.Run("leave and join", func(b *testing.B) {
		q := filledQueue(n)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			k := key("s", i*7919%n)
			c, _ := q.Leave(k)
			q.Join(k, semaphore.Request{Weight: 1}, nil, c, start, 0)
		}
	})
	b.Run("offer and return", func(b *testing.B) {
		q := filledQueue(n)
		b.ReportAllocs()
		for b.Loop() {
			for _, w := range q.Offer("s", 1, 0) {
				q.Return(w)
			}
		}
	})
	b.Run("offer behind a thousand absent waiters", func(b *testing.B) {
		q := filledQueue(n)
		for _, w := range q.Waiting("s")[:1000] {
			q.Detach(w, q.Call(w), start)
		}
		for b.Loop() {
			for _, w := range q.Offer("s", 1, 0) {
				q.Return(w)
			}
		}
	})
	b.Run("place", func(b *testing.B) {
		q := filledQueue(n)
		ws := q.Waiting("s")
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			q.Place(ws[i*7919%n], 0)
		}
	})
}
