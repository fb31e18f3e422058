package consensus

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// disk is a log store whose writes can be made to fail or hang.
type disk struct {
	*raft.InmemStore

	mu     sync.Mutex // guards the fields below
	write  func() error
	onVote func()
}

func (d *disk) set(write func() error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.write = write
}

func (d *disk) StoreLogs(logs []*raft.Log) error {
	d.mu.Lock()
	write := d.write
	d.mu.Unlock()
	if write != nil {
		if err := write(); err != nil {
			return err
		}
	}
	return d.InmemStore.StoreLogs(logs)
}

func (d *disk) setOnVote(before func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.onVote = before
}

func (d *disk) Set(key, value []byte) error {
	d.mu.Lock()
	onVote := d.onVote
	d.mu.Unlock()
	if onVote != nil && string(key) == "gatekeeper.vote" {
		onVote()
	}
	return d.InmemStore.Set(key, value)
}

func (d *disk) StoreLog(log *raft.Log) error { return d.StoreLogs([]*raft.Log{log}) }

// withDisk starts a single member whose log store calls write before every write.
func withDisk(t *testing.T, write func() error) (*member, *disk) {
	t.Helper()
	members := memoryCluster(t, 1, nil)
	first := members[0]
	leaderOf(t, first)
	closeNode(t, first.Node)

	d := &disk{InmemStore: first.memory}
	dataDir, err := PrepareDataDir(DataDirConfig{Dir: t.TempDir(), MemberID: "gk1", ClusterName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := first.cfg
	cfg.DataDir = dataDir
	m := &member{Node: newNode(cfg, first.PeerAddress()), observer: newRecorder(), machine: first.machine}
	_, inner := raft.NewInmemTransport(first.address)
	s := m.guardedMemory(d)
	if err := m.start(s, inner, func(_ raft.ServerID, a raft.ServerAddress) raft.ServerAddress { return a }); err != nil {
		t.Fatal(err)
	}
	m.ObserveLeadership(m.observer)
	t.Cleanup(func() { closeNode(t, m.Node) })
	leaderOf(t, m)
	d.set(write)
	return m, d
}

func TestFault_StoreError_EndsLeadershipAndAcknowledgesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := withDisk(t, func() error { return errors.New("no space left on device") })
		term := m.Term()
		a := m.Append(entry(t, "x")).Wait()
		if !errors.Is(a.Err, ErrUnknownOutcome) {
			t.Errorf("Append() = %v, want %v", a.Err, ErrUnknownOutcome)
		}
		if err := <-m.Fatal(); !strings.Contains(err.Error(), "no space left") {
			t.Errorf("Fatal: got %v, want the disk's error", err)
		}
		synctest.Wait()
		if events := len(m.observer.events); events != 2 {
			t.Errorf("got %d LeadershipObserver calls, want Promote and Demote", events)
		}
		if a := m.Append(entry(t, "y")).Wait(); !errors.Is(a.Err, ErrNotAppended) || !errors.Is(a.Err, ErrClosed) {
			t.Errorf("Append after the fault = %v, want ErrNotAppended and ErrClosed", a.Err)
		}
		if err := m.Confirm(t.Context(), term, time.Now()); !errors.Is(err, ErrNotConfirmed) {
			t.Errorf("Confirm after the fault = %v, want ErrNotConfirmed", err)
		}
		if err := m.Ready(); err == nil {
			t.Error("Ready() = nil after the fault, want an error")
		}
		sleep(time.Minute) // Raft panics if it cannot store a term, which must not happen here
	})
}

func TestFault_HangingStore_IsDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resume := make(chan struct{})
		m, _ := withDisk(t, func() error { <-resume; return nil })
		start := time.Now()
		p := m.Append(entry(t, "x"))
		if err := <-m.Fatal(); !strings.Contains(err.Error(), "hung") {
			t.Errorf("Fatal: got %v, want an error about the hung call", err)
		}
		if took := time.Since(start); took != m.cfg.StoreTimeout {
			t.Errorf("the hung call was detected after %v, want %v", took, m.cfg.StoreTimeout)
		}
		if a := p.Wait(); !errors.Is(a.Err, ErrUnknownOutcome) {
			t.Errorf("Append() = %v, want ErrUnknownOutcome", a.Err)
		}
		close(resume)
		sleep(time.Second)
		if m.machine.State().Retired("x") {
			t.Error("an entry was applied after the fault")
		}
	})
}

func TestFault_OnLeader_ElectsNewLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 3, nil)
		old := leaderOf(t, members...)
		old.guard.Fail(errors.New("the disk is hung"))
		next := leaderOf(t, others(members, old)...)
		mustAppend(t, next.Node, "x")
	})
}

func TestFault_MachineCannotApply_StopsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memoryCluster(t, 1, func(_ int, cfg *Config) { cfg.Machine = faultyMachine{} })
		m := leaderOf(t, members...)
		if a := m.Append([]byte("x")).Wait(); !errors.Is(a.Err, ErrUnknownOutcome) {
			t.Errorf("Append() = %v, want ErrUnknownOutcome", a.Err)
		}
		if err := <-m.Fatal(); !strings.Contains(err.Error(), "unknown command") {
			t.Errorf("Fatal: got %v, want an error about the unknown command", err)
		}
	})
}

func TestOpen_StoreFails_ReturnsTheError(t *testing.T) {
	dataDir := prepare(t, t.TempDir(), DataDirConfig{MemberID: "gk1", ClusterName: "test"})
	cfg := Config{DataDir: dataDir, Machine: faultyMachine{}}
	cfg.setDefaults()
	n := newNode(cfg, "gk1.test:7421")
	m := &member{Node: n}
	s := m.guardedMemory(&disk{InmemStore: raft.NewInmemStore(), write: func() error { return errors.New("no space left") }})
	_, inner := raft.NewInmemTransport("gk1.test:7421")
	err := n.start(s, inner, func(_ raft.ServerID, a raft.ServerAddress) raft.ServerAddress { return a })
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("start() = %v, want the disk's error", err)
	}
}

func TestTransferWatch_RefusalsWithoutTransfer_CauseFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed error
		w := &transferWatch{limit: 8 * time.Second, refused: newMetrics().transferRefused, fail: func(err error) { failed = err }}
		w.observe(raft.ErrLeadershipTransferInProgress)
		sleep(time.Hour)
		w.started() // another transfer
		w.observe(raft.ErrLeadershipTransferInProgress)
		sleep(8 * time.Second)
		w.observe(raft.ErrLeadershipTransferInProgress)
		w.observe(nil)
		sleep(time.Second)
		w.observe(raft.ErrLeadershipTransferInProgress)
		sleep(9 * time.Second)
		w.observe(raft.ErrEnqueueTimeout)
		if failed != nil {
			t.Fatal(failed)
		}
		w.observe(raft.ErrLeadershipTransferInProgress)
		if failed == nil {
			t.Error("refusals for 9 s without a transfer did not cause a fault")
		}
	})
}

func TestSnapshotAlarm_RepeatedSnapshots_RaiseTheAlarm(t *testing.T) {
	m := newMetrics()
	raised := 0
	a := &snapshotAlarm{sent: m.snapshotsSent, alarms: m.snapshotAlarms, logger: countWarnings(&raised), followers: make(map[raft.ServerID]*followerSnapshots)}
	for i := range uint64(2) {
		a.snapshotStarted("b", 100+i)
		a.caughtUpTo("b", 0)  // heartbeats
		a.caughtUpTo("b", 50) // old entries
		a.snapshotStarted("c", 100)
		a.caughtUpTo("c", 101) // c caught up
	}
	if raised != 0 {
		t.Error("the alarm was raised too early")
	}
	a.snapshotStarted("b", 102)
	if raised != 1 {
		t.Errorf("the alarm was raised %d times, want 1", raised)
	}
}
