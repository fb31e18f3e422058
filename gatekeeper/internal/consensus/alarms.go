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

// saw records the result of submitting an entry to Raft.
func (w *transferWatch) saw(err error) {
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
		w.fail(fmt.Errorf("consensus: entries were refused for %v because of a leadership transfer, which cannot take that long; "+
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

	mu      sync.Mutex // guards followers
	follows map[raft.ServerID]*snapshotsTo
}

type snapshotsTo struct {
	inARow int
	index  uint64 // last entry of the newest snapshot
}

// tooManySnapshots is the number of consecutive snapshots, with no entry accepted after any of them, that raises the
// alarm.
const tooManySnapshots = 3

// sending records that a snapshot up to index is being sent.
func (a *snapshotAlarm) sending(to raft.ServerID, index uint64) {
	a.sent.Inc()
	a.mu.Lock()
	f := a.follows[to]
	if f == nil {
		f = &snapshotsTo{}
		a.follows[to] = f
	}
	f.inARow++
	f.index = index
	inARow := f.inARow
	a.mu.Unlock()
	if inARow >= tooManySnapshots {
		a.alarms.Inc()
		a.logger.Error("a follower keeps receiving snapshots without catching up; keep more trailing log entries, or reduce the load on its disk and network",
			"member", string(to), "snapshots", inARow)
	}
}

// progress records that a follower's log contains everything up to index.
func (a *snapshotAlarm) progress(of raft.ServerID, index uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.follows[of]; f != nil && index >= f.index {
		delete(a.follows, of)
	}
}
