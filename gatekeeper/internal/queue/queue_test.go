package queue

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call is a waiting call, distinguished by its address.
type call struct{ name string }

var start = time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)

func key(sem string, n int) Key {
	return Key{Semaphore: sem, Identity: semaphore.Identity{Group: "g", Acquirer: strconv.Itoa(n)}, RequestID: "r"}
}

// join adds a new waiter with the given weight to the line of semaphore "s".
func join(q *Queue[*call], n int, weight uint32, now time.Time) (*Waiter[*call], *call) {
	c := &call{strconv.Itoa(n)}
	w, _ := q.Join(key("s", n), semaphore.Request{Semaphore: "s", Weight: weight}, nil, c, now, 0)
	return w, c
}

func numbers(ws []*Waiter[*call]) []int {
	var ns []int
	for _, w := range ws {
		n, _ := strconv.Atoi(w.Identity.Acquirer)
		ns = append(ns, n)
	}
	return ns
}

func wantWaiters(t *testing.T, what string, ws []*Waiter[*call], want ...int) {
	t.Helper()
	if got := numbers(ws); !slices.Equal(got, want) {
		t.Errorf("%s: got waiters %v, want %v", what, got, want)
	}
}

func TestOffer_FirstDoesNotFit_OffersNothing(t *testing.T) {
	q := New[*call]()
	join(q, 1, 5, start)
	join(q, 2, 1, start)
	wantWaiters(t, "4 free", q.Offer("s", 4, 0))
	wantWaiters(t, "5 free", q.Offer("s", 5, 0), 1)
	wantWaiters(t, "5 free, all being offered", q.Offer("s", 5, 0))
	wantWaiters(t, "6 free, 5 of them being offered", q.Offer("s", 6, 0), 2)
	wantWaiters(t, "another semaphore", q.Offer("other", 100, 0))
}

func TestOffer_SeveralFit_AreOfferedTogetherInOrder(t *testing.T) {
	q := New[*call]()
	for n := 1; n <= 5; n++ {
		join(q, n, 2, start)
	}
	wantWaiters(t, "7 free", q.Offer("s", 7, 0), 1, 2, 3)
	q.Leave(key("s", 1))
	wantWaiters(t, "after one was granted", q.Offer("s", 5, 0))
	wantWaiters(t, "after one slot was freed", q.Offer("s", 6, 0), 4)
}

func TestReturn_RefusedGrant_IsOfferedAgainFirst(t *testing.T) {
	q := New[*call]()
	w, _ := join(q, 1, 1, start)
	join(q, 2, 1, start)
	q.Offer("s", 1, 0)
	if !q.Offered(w) {
		t.Error("Offered() = false after Offer")
	}
	q.Return(w)
	if q.Offered(w) {
		t.Error("Offered() = true after Return")
	}
	wantWaiters(t, "after the return", q.Offer("s", 2, 0), 1, 2)
	q.Leave(key("s", 1))
	q.Return(w) // no effect, because the waiter has left
	wantWaiters(t, "still in line", q.Waiting("s"), 2)
	if q.Total(noTasks) != 1 {
		t.Errorf("Total() = %d, want 1", q.Total(noTasks))
	}
}

func TestJoin_ExistingKey_KeepsPlaceAndReplacesCall(t *testing.T) {
	q := New[*call]()
	w, c := join(q, 1, 1, start)
	join(q, 2, 1, start)
	next := &call{"next"}
	second, replaced := q.Join(w.Key, semaphore.Request{Weight: 7}, nil, next, start.Add(time.Hour), 0)
	if second != w || replaced != c || q.Call(w) != next {
		t.Errorf("second Join() = %p (first %p), replaced %v, Call() = %v; want the same waiter with the new call", second, w, replaced, q.Call(w))
	}
	if place, length := q.Place(w, 0); place != 1 || length != 2 {
		t.Errorf("Place() = %d of %d, want 1 of 2", place, length)
	}
	q.Detach(w, c, start) // detaching the replaced call has no effect
	wantWaiters(t, "offered", q.Offer("s", 1, 0), 1)
	if w.Request.Weight != 1 {
		t.Errorf("the second Join changed the request: %+v", w.Request)
	}
}

func TestDetach_AbsentWaiter_KeepsPlaceAndIsSkipped(t *testing.T) {
	q := New[*call]()
	w, c := join(q, 1, 1, start)
	join(q, 2, 1, start)
	q.Detach(w, c, start)
	if !q.Ahead("s", &Key{Semaphore: "s"}, 0) || q.Call(w) != nil {
		t.Error("Ahead() does not count the absent waiter, or it still has a call")
	}
	wantWaiters(t, "offered while the first is absent", q.Offer("s", 1, 0), 2)
	wantWaiters(t, "dropped too early", q.Expire(start.Add(Linger-1)))
	if at, ok := q.NextExpiry(); !ok || !at.Equal(start.Add(Linger)) {
		t.Errorf("NextExpiry() = %v, %v, want start plus Linger", at, ok)
	}

	rejoined, replaced := q.Join(w.Key, w.Request, nil, &call{"rejoined"}, start.Add(Linger-1), 0)
	if rejoined != w || replaced != nil {
		t.Errorf("Join() of the absent waiter = %p (first %p), replaced %v, want the same waiter and no call replaced", rejoined, w, replaced)
	}
	wantWaiters(t, "offered after rejoining", q.Offer("s", 2, 0), 1)
	wantWaiters(t, "dropped after rejoining", q.Expire(start.Add(time.Hour)))
	if _, ok := q.NextExpiry(); ok {
		t.Error("NextExpiry() = true, want false after rejoining")
	}
}

func TestExpire_AfterLinger_DropsWaiter(t *testing.T) {
	q := New[*call]()
	w, c := join(q, 1, 1, start)
	q.Detach(w, c, start)
	join(q, 2, 1, start)
	wantWaiters(t, "dropped", q.Expire(start.Add(Linger)), 1)
	if q.Ahead("s", &Key{"s", semaphore.Identity{Group: "g", Acquirer: "2"}, "r"}, 0) {
		t.Error("Ahead() for the second waiter = true after the first was dropped")
	}
	if place, length := q.Place(w, 0); place != 0 || length != 0 {
		t.Errorf("Place() of the dropped waiter = %d of %d, want 0 of 0", place, length)
	}
	if second, _ := join(q, 1, 1, start.Add(Linger)); second == w {
		t.Error("Join() returned the dropped waiter")
	}
	wantWaiters(t, "in line", q.Waiting("s"), 2, 1)
}

func TestDetach_OfferedWaiter_IsDroppedOnlyAfterReturn(t *testing.T) {
	q := New[*call]()
	w, c := join(q, 1, 1, start)
	q.Offer("s", 1, 0)
	q.Detach(w, c, start)
	wantWaiters(t, "dropped while being offered", q.Expire(start.Add(time.Hour)))
	q.Return(w)
	wantWaiters(t, "offered while absent", q.Offer("s", 1, 0))
	wantWaiters(t, "dropped", q.Expire(start.Add(time.Hour)), 1)
}

func TestLeave_ReturnsAttachedCall(t *testing.T) {
	q := New[*call]()
	w, c := join(q, 1, 1, start)
	if got, known := q.Leave(w.Key); got != c || !known {
		t.Errorf("Leave() = %v, %v, want the attached call", got, known)
	}
	if got, known := q.Leave(w.Key); got != nil || known {
		t.Errorf("second Leave() = %v, %v, want nil, false", got, known)
	}
	if q.Ahead("s", nil, 0) || q.Length("s", 0) != 0 || len(q.Semaphores()) != 0 {
		t.Error("the line still exists after its only waiter has left")
	}
}

func TestGather_NewWaiters_AreOrderedByCappedWait(t *testing.T) {
	q := New[*call]()
	q.Gather(start.Add(time.Second))
	if !q.Gathering(start) || q.Gathering(start.Add(time.Second)) {
		t.Error("Gathering() is wrong at the start or end of the gathering period")
	}
	for n, claim := range []time.Duration{0, time.Minute, time.Hour, 2 * time.Hour, -time.Hour, time.Second} {
		q.Join(key("s", n), semaphore.Request{Weight: 1}, nil, &call{}, start, claim)
	}
	late, _ := q.Join(key("s", 6), semaphore.Request{Weight: 1}, nil, &call{}, start.Add(time.Second), time.Hour)
	wantWaiters(t, "in line", q.Waiting("s"), 2, 3, 1, 5, 0, 4, 6)
	if want := start.Add(time.Second - MaxClaimedWait); !late.Joined.Equal(want) {
		t.Errorf("Joined = %v, want %v", late.Joined, want)
	}
}

func TestClear_EmptiesTheQueue(t *testing.T) {
	q := New[*call]()
	q.Gather(start.Add(time.Hour))
	w, c := join(q, 1, 1, start)
	w2, c2 := join(q, 2, 1, start)
	q.Detach(w2, c2, start)
	if got := q.Clear(); len(got) != 2 || q.Call(w) != c {
		t.Errorf("Clear() = %v, want both waiters", numbers(got))
	}
	q.Return(w)
	q.Detach(w, c, start)
	if q.Total(noTasks) != 0 || q.Gathering(start) || q.Offer("s", 9, 0) != nil || q.Expire(start.Add(time.Hour)) != nil {
		t.Error("queue is not empty after Clear")
	}
}

func TestWaiters_MatchingLines_AreListedInOrderUpToLimit(t *testing.T) {
	q := New[*call]()
	for n, sem := range []string{"b", "a", "c", "a"} {
		q.Join(key(sem, n), semaphore.Request{Weight: uint32(n)}, nil, &call{}, start, 0)
	}
	q.Offer("a", 1, 0)
	got := q.Waiters(func(sem string) bool { return sem != "b" }, Cursor{}, 10, noTasks)
	if len(got) != 3 || got[0].Weight != 1 || got[0].Place != 1 || !got[0].Offered ||
		got[1].Weight != 3 || got[1].Place != 2 || got[1].Offered || got[2].Semaphore != "c" {
		t.Errorf("Waiters() = %+v, want the waiters for a and c in order", got)
	}
	all := func(string) bool { return true }
	if got := q.Waiters(all, Cursor{}, 2, noTasks); len(got) != 2 || got[1].Semaphore != "a" {
		t.Errorf("Waiters() with limit 2 = %+v, want both waiters for a", got)
	}
	// The next page starts after the position of the previous page's last waiter, even if that waiter has left.
	q.Leave(got[0].Key)
	if next := q.Waiters(all, got[0].Cursor, 10, noTasks); len(next) != 3 || next[0].Weight != 3 || next[0].Place != 1 || next[1].Semaphore != "b" {
		t.Errorf("Waiters() for the next page = %+v, want the other three", next)
	}
	if next := q.Waiters(all, got[2].Cursor, 10, noTasks); len(next) != 0 {
		t.Errorf("Waiters() after the last waiter = %+v, want none", next)
	}
}

func noTasks(string) uint64 { return 0 }

func TestQueue_IdleWorkers_DoNotAffectPlaces(t *testing.T) {
	q := New[*call]()
	var line []*Waiter[*call]
	for n, worker := range []bool{true, false, true, false} {
		w, _ := q.Join(key("s", n), semaphore.Request{Weight: 1, Worker: worker}, nil, &call{}, start, 0)
		line = append(line, w)
	}
	for tasks, want := range [][]int{{0, 1, 0, 2}, {1, 2, 0, 3}, {1, 2, 3, 4}, {1, 2, 3, 4}} {
		n, sum := uint64(tasks), 0
		for i, w := range line {
			place, length := q.Place(w, n)
			if place != want[i] || length != want[3] {
				t.Errorf("%d tasks: Place() of waiter %d = %d of %d, want %d of %d", tasks, i, place, length, want[i], want[3])
			}
			sum += place
		}
		for _, w := range q.Waiters(func(string) bool { return true }, Cursor{}, 10, func(string) uint64 { return n }) {
			sum -= w.Place
		}
		if total := q.Total(func(string) uint64 { return n }); sum != 0 || total != want[3] || q.Length("s", n) != want[3] {
			t.Errorf("%d tasks: places in Waiters() differ from Place() by %d; Total() = %d, Length() = %d", tasks, sum, total, q.Length("s", n))
		}
	}
	if all, workers := q.Len("s"); all != 4 || workers != 2 {
		t.Errorf("Len() = %d, %d, want 4, 2", all, workers)
	}
	q.Offer("s", 1, 1)
	if place, _ := q.Place(line[1], 0); place != 2 {
		t.Errorf("Place() behind a worker that is being offered = %d, want 2", place)
	}
}

// joinWorker is like join, but for a worker.
func joinWorker(q *Queue[*call], n int, weight uint32) *Waiter[*call] {
	w, _ := q.Join(key("s", n), semaphore.Request{Semaphore: "s", Weight: weight, Worker: true}, nil, &call{strconv.Itoa(n)}, start, 0)
	return w
}

func TestOffer_Workers_KeepPlacesWhileTasksAreWaiting(t *testing.T) {
	q := New[*call]()
	join(q, 1, 1, start)
	joinWorker(q, 2, 1)
	join(q, 3, 1, start)
	joinWorker(q, 4, 1)
	joinWorker(q, 5, 1)
	wantWaiters(t, "two tasks", q.Offer("s", 9, 2), 1, 2, 3, 4)
	wantWaiters(t, "two tasks, both being offered", q.Offer("s", 9, 2))
	q.Leave(key("s", 2))
	wantWaiters(t, "one task left", q.Offer("s", 9, 1))
	wantWaiters(t, "another task arrived", q.Offer("s", 9, 2), 5)
}

func TestOffer_WorkerWithoutTask_DoesNotBlock(t *testing.T) {
	q := New[*call]()
	worker := joinWorker(q, 1, 2)
	join(q, 2, 1, start)
	other := key("s", 2)
	if q.Ahead("s", &other, 0) || !q.Ahead("s", nil, 0) {
		t.Error("Ahead() counts a worker without a task, or ignores a caller")
	}
	if !q.Ahead("s", &other, 1) {
		t.Error("Ahead() does not count a worker with a task")
	}
	wantWaiters(t, "too few permits for the worker, with a task", q.Offer("s", 1, 1))
	wantWaiters(t, "too few permits for the worker, without a task", q.Offer("s", 1, 0), 2)
	q.Leave(other)
	wantWaiters(t, "enough permits for the worker", q.Offer("s", 2, 1), 1)
	if !q.Ahead("s", nil, 0) {
		t.Error("Ahead() does not count a worker that is being offered the last task")
	}
	q.Return(worker)
	if q.Ahead("s", nil, 0) {
		t.Error("Ahead() counts a returned worker without a task")
	}
	wantWaiters(t, "after the return", q.Offer("s", 2, 1), 1)
}

func TestFirstWorker_CountsWaitersAhead(t *testing.T) {
	q := New[*call]()
	if _, _, ok := q.FirstWorker("s"); ok {
		t.Error("FirstWorker() for an empty line = true, want false")
	}
	join(q, 1, 1, start)
	if _, _, ok := q.FirstWorker("s"); ok {
		t.Error("FirstWorker() counts a caller as a worker")
	}
	join(q, 2, 1, start)
	q.Join(key("s", 3), semaphore.Request{Semaphore: "s", Weight: 7, Worker: true}, nil, &call{"3"}, start, 0)
	join(q, 4, 1, start)
	q.Join(key("s", 5), semaphore.Request{Semaphore: "s", Weight: 8, Worker: true}, nil, &call{"5"}, start, 0)
	if weight, ahead, ok := q.FirstWorker("s"); weight != 7 || ahead != 2 || !ok {
		t.Errorf("FirstWorker() = weight %d, %d ahead, %t, want 7, 2, true", weight, ahead, ok)
	}
}
