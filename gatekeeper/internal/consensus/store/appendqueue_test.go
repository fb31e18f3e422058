package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// newQueue returns a queue for log. The queue is closed at the end of the test, after the guard has been released.
func newQueue(t *testing.T, log intact.Log, g *Guard) *AppendQueue {
	q := NewAppendQueue(NewLog(log, g))
	t.Cleanup(func() {
		g.Release()
		q.Close()
	})
	return q
}

// newLeaderQueue returns a leader's queue.
func newLeaderQueue(t *testing.T, log intact.Log, g *Guard) *AppendQueue {
	q := newQueue(t, log, g)
	q.Enable(func() bool { return true })
	return q
}

// gatedDisk is a log and a stable store that records its writes and blocks each of them until it receives a token.
type gatedDisk struct {
	*raft.InmemStore
	token chan struct{}

	mu     sync.Mutex
	writes []string
}

func newGatedDisk() *gatedDisk {
	return &gatedDisk{InmemStore: raft.NewInmemStore(), token: make(chan struct{})}
}

func (d *gatedDisk) write(what string) {
	<-d.token
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes = append(d.writes, what)
}

func (d *gatedDisk) StoreLogs(logs []*raft.Log) error {
	d.write(fmt.Sprintf("store %d-%d", logs[0].Index, logs[len(logs)-1].Index))
	return d.InmemStore.StoreLogs(logs)
}

func (d *gatedDisk) DeleteRange(min, max uint64) error {
	d.write(fmt.Sprintf("delete %d-%d", min, max))
	return d.InmemStore.DeleteRange(min, max)
}

func (d *gatedDisk) Set(key, val []byte) error {
	d.write("set " + string(key))
	return d.InmemStore.Set(key, val)
}

func (d *gatedDisk) SetUint64(key []byte, val uint64) error {
	d.write("set " + string(key))
	return d.InmemStore.SetUint64(key, val)
}

func commands(from, to uint64) (logs []*raft.Log) {
	for i := from; i <= to; i++ {
		logs = append(logs, &raft.Log{Index: i, Term: 1, Type: raft.LogCommand, Data: fmt.Append(nil, i)})
	}
	return logs
}

// last returns the index of the last entry of a log.
func last(t *testing.T, log interface{ LastIndex() (uint64, error) }) uint64 {
	t.Helper()
	index, err := log.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestAppendQueue_OnLeader_StoreLogsReturnsEarlyAndReadsIncludeQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		disk := newGatedDisk()
		q := newLeaderQueue(t, disk, g)
		if err := q.StoreLogs(commands(1, 3)); err != nil {
			t.Fatal(err)
		}
		if got := last(t, q); got != 3 {
			t.Errorf("LastIndex() = %d, want 3", got)
		}
		var entry raft.Log
		if err := q.GetLog(2, &entry); err != nil || string(entry.Data) != "2" {
			t.Errorf("GetLog(2) = %v with data %q, want data 2", err, entry.Data)
		}
		if err := q.GetLog(4, &entry); err != raft.ErrLogNotFound { //nolint:errorlint // Raft compares in the same way
			t.Errorf("GetLog(4) = %v, want raft.ErrLogNotFound", err)
		}
		if got := q.Durable(); got != 0 {
			t.Errorf("Durable() = %d before the write, want 0", got)
		}
		waited, _ := onRaftGoroutine(func() { q.Wait(1) })
		synctest.Wait()
		select {
		case <-waited:
			t.Error("Wait(1) returned before entry 1 was written")
		default:
		}
		disk.token <- struct{}{}
		<-waited
		synctest.Wait()
		if got := q.Durable(); got != math.MaxUint64 {
			t.Errorf("Durable() = %d after the write, want the maximum", got)
		}
		if got := last(t, disk); got != 3 {
			t.Errorf("the last entry on disk is %d, want 3", got)
		}
	})
}

func TestAppendQueue_OtherWrites_WaitForQueue(t *testing.T) {
	leads := true
	entryOf := func(kind raft.LogType) []*raft.Log { return []*raft.Log{{Index: 2, Term: 1, Type: kind}} }
	for _, tc := range []struct {
		name string
		call func(q *AppendQueue, s *Stable)
		want string // the last write
	}{
		{"follower entry", func(q *AppendQueue, _ *Stable) { leads = false; _ = q.StoreLogs(commands(2, 2)) }, "store 2-2"},
		{"configuration", func(q *AppendQueue, _ *Stable) { _ = q.StoreLogs(entryOf(raft.LogConfiguration)) }, "store 2-2"},
		{"barrier", func(q *AppendQueue, _ *Stable) { _ = q.StoreLog(entryOf(raft.LogBarrier)[0]) }, "store 2-2"},
		{"no-op", func(q *AppendQueue, _ *Stable) { _ = q.StoreLogs(entryOf(raft.LogNoop)) }, "store 2-2"},
		{"truncation", func(q *AppendQueue, _ *Stable) { _ = q.DeleteRange(1, 1) }, "delete 1-1"},
		{"term", func(_ *AppendQueue, s *Stable) { _ = s.SetUint64([]byte("CurrentTerm"), 2) }, "set CurrentTerm"},
		{"vote", func(_ *AppendQueue, s *Stable) {
			_ = s.SetUint64([]byte(keyVoteTerm), 2)
			_ = s.Set([]byte(keyVoteCand), []byte("b"))
		}, "set " + keyVote},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leads = true
				g, _ := newGuard(t)
				disk := newGatedDisk()
				q := newQueue(t, disk, g)
				q.Enable(func() bool { return leads })
				t.Cleanup(func() { close(disk.token) })
				s := NewStable(disk, q)
				if err := q.StoreLogs(commands(1, 1)); err != nil {
					t.Fatal(err)
				}
				called, _ := onRaftGoroutine(func() { tc.call(q, s) })
				synctest.Wait()
				disk.token <- struct{}{}
				synctest.Wait()
				select {
				case <-called:
					t.Fatal("the call returned before its own write")
				default:
				}
				disk.token <- struct{}{}
				<-called
				if got, want := fmt.Sprint(disk.writes), fmt.Sprintf("[store 1-1 %s]", tc.want); got != want {
					t.Errorf("writes = %s, want %s", got, want)
				}
			})
		})
	}
}

func TestAppendQueue_TrimFront_DoesNotWaitForLaterEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		disk := newGatedDisk()
		q := newLeaderQueue(t, disk, g)
		if err := q.StoreLogs(commands(1, 3)); err != nil {
			t.Fatal(err)
		}
		disk.token <- struct{}{}
		synctest.Wait()
		if err := q.StoreLogs(commands(4, 5)); err != nil {
			t.Fatal(err)
		}
		trimmed, _ := onRaftGoroutine(func() { _ = q.DeleteRange(1, 2) })
		synctest.Wait() // both writes wait for a token
		disk.token <- struct{}{}
		disk.token <- struct{}{}
		<-trimmed
		synctest.Wait()
		if first, err := q.FirstIndex(); err != nil || first != 3 {
			t.Errorf("FirstIndex() = %d, %v, want 3", first, err)
		}
		if got := last(t, disk); got != 5 {
			t.Errorf("the last entry on disk is %d, want 5", got)
		}
	})
}

// Raft trims the log up to the snapshot, which may end at the last entry on disk while the next entry is still queued.
// If the log seemed to end there too, it would be deleted from the back.
func TestAppendQueue_TrimToLastEntryOnDisk_WaitsForNextEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		disk := newGatedDisk()
		q := newLeaderQueue(t, disk, g)
		t.Cleanup(func() { close(disk.token) })
		if err := q.StoreLogs(commands(1, deleteChunk+2)); err != nil {
			t.Fatal(err)
		}
		disk.token <- struct{}{}
		synctest.Wait()
		if err := q.StoreLogs(commands(deleteChunk+3, deleteChunk+3)); err != nil {
			t.Fatal(err)
		}
		trimmed, _ := onRaftGoroutine(func() { _ = q.DeleteRange(1, deleteChunk+2) })
		for range 3 { // the entry and two chunks
			disk.token <- struct{}{}
		}
		<-trimmed
		want := fmt.Sprintf("[store 1-%d store %d-%[2]d delete 1-%d delete %d-%d]", deleteChunk+2, deleteChunk+3, deleteChunk, deleteChunk+1, deleteChunk+2)
		if got := fmt.Sprint(disk.writes); got != want {
			t.Errorf("writes = %s, want %s", got, want)
		}
	})
}

func TestAppendQueue_Full_StoreLogsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		disk := newGatedDisk()
		q := newLeaderQueue(t, disk, g)
		if err := q.StoreLogs(commands(1, maxQueued)); err != nil {
			t.Fatal(err)
		}
		stored, _ := onRaftGoroutine(func() { _ = q.StoreLogs(commands(maxQueued+1, maxQueued+1)) })
		synctest.Wait()
		select {
		case <-stored:
			t.Errorf("StoreLogs returned with %d entries in the queue", maxQueued)
		default:
		}
		disk.token <- struct{}{}
		<-stored
		disk.token <- struct{}{}
	})
}

func TestAppendQueue_FailedWrite_NothingReturns(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		t.Run(fmt.Sprintf("hangs %v", hangs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, faults := newGuard(t)
				resume := make(chan struct{})
				disk := raft.NewInmemStore()
				q := newLeaderQueue(t, &brokenLog{InmemStore: disk, store: func() error {
					if <-resume; hangs {
						return nil
					}
					return errors.New("no space left")
				}}, g)
				s := NewStable(disk, q)
				if err := q.StoreLogs(commands(1, 2)); err != nil {
					t.Fatal(err)
				}
				var ended []chan struct{}
				var returned []*bool
				for _, call := range []func(){
					func() { q.Wait(1) },
					func() { q.Drain() },
					func() { _ = q.StoreLogs([]*raft.Log{{Index: 3, Type: raft.LogNoop}}) },
					func() { _ = q.DeleteRange(1, 2) },
					func() { _ = s.SetUint64([]byte("CurrentTerm"), 2) },
				} {
					e, r := onRaftGoroutine(call)
					ended, returned = append(ended, e), append(returned, r)
				}
				if hangs {
					<-faults // after the guard's timeout
					close(resume)
				} else {
					close(resume)
					<-faults
				}
				e, r := onRaftGoroutine(func() { _ = q.StoreLogs(commands(3, 3)) })
				ended, returned = append(ended, e), append(returned, r)
				synctest.Wait()
				g.Release()
				for i := range ended {
					<-ended[i]
					if *returned[i] {
						t.Errorf("call %d returned after the fault", i)
					}
				}
				if got := last(t, disk); got != 0 {
					t.Errorf("the last entry on disk is %d, want none", got)
				}
				if term, err := disk.GetUint64([]byte("CurrentTerm")); err != nil || term != 0 {
					t.Errorf("the term on disk is %d, %v, want none", term, err)
				}
			})
		})
	}
}

// crashingDisk is a log and a stable store on which only the first few writes succeed.
type crashingDisk struct {
	*raft.InmemStore
	remaining int // writes until the crash
	crashed   bool
}

var errCrashed = errors.New("the machine crashed")

func (d *crashingDisk) write(f func() error) error {
	if d.remaining == 0 {
		d.crashed = true
		return errCrashed
	}
	d.remaining--
	return f()
}

func (d *crashingDisk) StoreLogs(logs []*raft.Log) error {
	return d.write(func() error { return d.InmemStore.StoreLogs(logs) })
}

func (d *crashingDisk) DeleteRange(min, max uint64) error {
	return d.write(func() error { return d.InmemStore.DeleteRange(min, max) })
}

func (d *crashingDisk) SetUint64(key []byte, val uint64) error {
	return d.write(func() error { return d.InmemStore.SetUint64(key, val) })
}

// A member alternates between leading and following, and crashes at each of its writes in turn. After the crash, the
// disk must contain a prefix of the stored entries. The prefix must include every entry that a call reported as
// durable, and every entry stored before the term on disk was written.
func TestAppendQueue_CrashAtEveryWrite_KeepsDurableEntries(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		for writes, crashed := 0, true; crashed; writes++ {
			synctest.Test(t, func(t *testing.T) { crashed = crashAfter(t, seed, writes) })
			if t.Failed() {
				t.Fatalf("seed %d, crash after %d writes", seed, writes)
			}
		}
	}
}

func crashAfter(t *testing.T, seed uint64, writes int) (crashed bool) {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	g, _ := newGuard(t)
	disk := &crashingDisk{InmemStore: raft.NewInmemStore(), remaining: writes}
	q := newQueue(t, disk, g)
	leads := false
	q.Enable(func() bool { return leads })
	s := NewStable(disk, q)

	// The model of the member. durable and before change only after the call has returned.
	term, next := uint64(1), uint64(1)
	stored := make(map[uint64]uint64) // by index, the term of each entry that was stored and not truncated
	durable := uint64(0)              // the last entry that a call has reported as durable
	before := map[uint64]uint64{1: 0} // by term, the last entry when the term was written
	ended, _ := onRaftGoroutine(func() {
		for range 40 {
			switch n := random.IntN(10); {
			case n == 0: // a new term
				term++
				if s.SetUint64([]byte("CurrentTerm"), term) == nil {
					before[term], durable = next-1, next-1
				}
				leads = random.IntN(2) == 0
			case n == 1 && !leads && next > 1: // another leader overwrites the tail
				from := 1 + uint64(random.IntN(int(next-1)))
				if q.DeleteRange(from, next-1) == nil {
					for i := from; i < next; i++ {
						delete(stored, i)
					}
					next, durable = from, from-1
					for at, index := range before {
						before[at] = min(index, durable)
					}
				}
			case n == 2 && next > 1:
				index := 1 + uint64(random.IntN(int(next-1)))
				q.Wait(index)
				durable = max(durable, index)
			case n == 3:
				durable = max(durable, min(q.Durable(), next-1))
			case n == 4:
				<-time.After(time.Millisecond) // lets the queue be written
			default:
				var logs []*raft.Log
				for range 1 + random.IntN(4) {
					logs = append(logs, &raft.Log{Index: next, Term: term, Type: raft.LogCommand})
					stored[next] = term
					next++
				}
				if _ = q.StoreLogs(logs); !leads {
					durable = next - 1
				}
			}
		}
	})
	synctest.Wait() // the goroutine has finished, or is blocked by the fault
	g.Release()
	<-ended

	end := last(t, disk.InmemStore)
	if end < durable {
		t.Errorf("the last entry on disk is %d, but entry %d was reported as durable", end, durable)
	}
	for i := uint64(1); i <= end; i++ {
		var got raft.Log
		if err := disk.GetLog(i, &got); err != nil || got.Term != stored[i] {
			t.Errorf("entry %d on disk has term %d (%v), want %d", i, got.Term, err, stored[i])
		}
	}
	if at, err := disk.GetUint64([]byte("CurrentTerm")); err != nil || end < before[at] {
		t.Errorf("the last entry on disk is %d, but term %d (%v) was written after entry %d", end, at, err, before[at])
	}
	return disk.crashed
}
