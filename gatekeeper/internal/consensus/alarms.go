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

// transferWatch notices a server that refuses entries for a transfer of leadership that is long over (hashicorp/raft
// issue 696, open in v1.8.0): a failed transfer can leave it so for ever, in later terms too. Only a restart helps.
type transferWatch struct {
	limit   time.Duration
	refused prometheus.Counter
	fail    func(error)

	mu    sync.Mutex // guards since
	since time.Time  // of the first refusal after which nothing was accepted; zero: none
}

// saw records the result of submitting an entry to Raft.
func (w *transferWatch) saw(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		if !errors.Is(err, raft.ErrEnqueueTimeout) { // which says nothing
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
		w.fail(fmt.Errorf("consensus: entries were refused for %v because of a transfer of leadership, which cannot take so long; "+
			"this server must be restarted", now.Sub(w.since).Round(time.Millisecond)))
	}
}

// started forgets earlier refusals: a transfer begins now.
func (w *transferWatch) started() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Time{}
}

// snapshotAlarm notices a follower that is sent one snapshot after the other without ever catching up (hashicorp/raft
// issue 697, open in v1.8.0), because the log behind each is trimmed before it is installed.
type snapshotAlarm struct {
	sent, alarms prometheus.Counter
	logger       *slog.Logger

	mu      sync.Mutex // guards follows
	follows map[raft.ServerID]*snapshotsTo
}

type snapshotsTo struct {
	inARow int
	index  uint64 // of the newest
}

// tooManySnapshots is how many in a row, without an entry accepted behind any of them, raise the alarm.
const tooManySnapshots = 3

// sending takes note of a snapshot up to index.
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
		a.logger.Error("a follower gets one snapshot after the other and does not catch up; keep more trailing log entries, or relieve its disk and network",
			"member", string(to), "snapshots", inARow)
	}
}

// progress takes note that a follower's log has everything up to index.
func (a *snapshotAlarm) progress(of raft.ServerID, index uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f := a.follows[of]; f != nil && index >= f.index {
		delete(a.follows, of)
	}
}
