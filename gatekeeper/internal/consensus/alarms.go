package consensus

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

// transferWatch detects a server that keeps refusing entries because of a leadership transfer that ended long ago
// (hashicorp/raft issue 696, open in v1.8.0). A failed transfer can leave a server in this state forever, even in later
// terms. Only a restart helps.
type transferWatch struct {
	limit   time.Duration
	refused prometheus.Counter
	fail    func(error)

	mu    sync.Mutex // guards since
	since time.Time  // time of the first refusal since an entry was last accepted; zero if none
}

// observe records the result of submitting an entry to Raft.
func (w *transferWatch) observe(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		if !errors.Is(err, raft.ErrEnqueueTimeout) { // a timeout proves nothing
			w.since = time.Time{}
		}
		return
	}
	w.refused.Inc()
	now := time.Now()
	switch {
	case w.since.IsZero():
		w.since = now
	case now.Sub(w.since) > w.limit:
		w.fail(fmt.Errorf("consensus: entries were refused for %v because of a leadership transfer, which should never take that long; "+
			"this server must be restarted", now.Sub(w.since).Round(time.Millisecond)))
	}
}

// started forgets earlier refusals, because a new transfer is starting.
func (w *transferWatch) started() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Time{}
}

// snapshotAlarm detects a follower that receives one snapshot after another without ever catching up (hashicorp/raft
// issue 697, open in v1.8.0), because the log after each snapshot is trimmed before the follower has installed it.
type snapshotAlarm struct {
	sent, alarms prometheus.Counter
	logger       *slog.Logger

	mu        sync.Mutex // guards followers
	followers map[raft.ServerID]*followerSnapshots
}

type followerSnapshots struct {
	consecutive int
	index       uint64 // last entry of the newest snapshot
}

// tooManySnapshots is the number of consecutive snapshots, with no entry accepted after any of them, that raises the
// alarm.
const tooManySnapshots = 3

// snapshotStarted records that a snapshot up to index is being sent.
func (a *snapshotAlarm) snapshotStarted(to raft.ServerID, index uint64) {
	a.sent.Inc()
	a.mu.Lock()
	f := a.followers[to]
	if f == nil {
		f = &followerSnapshots{}
		a.followers[to] = f
	}
	f.consecutive++
	f.index = index
	consecutive := f.consecutive
	a.mu.Unlock()
	if consecutive >= tooManySnapshots {
		a.alarms.Inc()
		a.logger.Error("a follower keeps receiving snapshots without catching up; keep more trailing log entries, or reduce the load on its disk and network",
			"member", string(to), "snapshots", consecutive)
	}
}

// caughtUpTo records that a follower's log contains everything up to index.
func (a *snapshotAlarm) caughtUpTo(id raft.ServerID, index uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.followers[id]; f != nil && index >= f.index {
		delete(a.followers, id)
	}
}
