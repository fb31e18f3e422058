package main

import (
	"fmt"
	"slices"
)

// target is a performance target for three Gatekeeper servers.
type target struct {
	work work
	how  string
	// stores are the log stores to which the target applies. nil means all.
	stores        []string
	peer, peerHow string
	at            map[int]float64 // by number of callers
	tls           bool            // for servers with TLS
}

// Log stores.
const (
	bolt = "bolt"
	wal  = "wal"
)

func targets() []target {
	const acquire = "TryAcquire, Release"
	plain := []target{
		{pairs, acquire, []string{wal}, "etcd", "Txn, Delete", map[int]float64{1: 1.2, 16: 1.6, 64: 2.0, 256: 2.4}, false},
		{pairs, acquire, []string{bolt}, "etcd", "Txn, Delete", map[int]float64{1: 0.85, 16: 1.25, 64: 1.7, 256: 2.1}, false},
		{pairs, acquire, nil, "etcd", "Mutex.TryLock, Unlock", map[int]float64{64: 2.2}, false},
		{denials, "TryAcquire", nil, "etcd", "Txn that fails", map[int]float64{64: 3.9}, false},
		{denials, "TryAcquire", nil, echo, "", map[int]float64{64: 0.75, 256: 0.85}, false},
		{refreshes, "KeepAlive stream", nil, "etcd", "LeaseKeepAlive stream", map[int]float64{64: 0.8, 256: 0.8}, false},
		{tokens, "KeepAlive stream", nil, echo, "", map[int]float64{64: 22}, false},
	}
	// TLS, roles and the audit log together may cost at most a quarter of the throughput.
	tlsTargets := map[int]float64{1: 0.75, 16: 0.75, 64: 0.75, 256: 0.75}
	return append(plain,
		target{pairs, acquire, nil, gatekeeperName, acquire, tlsTargets, true},
		target{denials, "TryAcquire", nil, gatekeeperName, "TryAcquire", tlsTargets, true},
		target{refreshes, "KeepAlive stream", nil, gatekeeperName, "KeepAlive stream", tlsTargets, true})
}

// verdict is the outcome of one target for one number of callers.
type verdict struct {
	What    string  `json:"what"`
	Reached float64 `json:"reached"`
	AtLeast float64 `json:"at_least"`
	Met     bool    `json:"met"`
}

func (t *target) covers(w *variant) bool {
	return w.Servers == 3 && w.TLS == t.tls && w.Work == t.work && w.How == t.how && (t.stores == nil || slices.Contains(t.stores, w.Store))
}

// judge compares the ratios with the targets. It skips targets without a ratio.
func judge(ratios []ratio) []verdict {
	var all []verdict
	for _, t := range targets() {
		for _, r := range ratios {
			if atLeast, ok := t.at[r.Callers]; ok && t.covers(r.of) && r.to.System == t.peer && r.to.How == t.peerHow {
				all = append(all, verdict{fmt.Sprintf("%s at %d: %s / %s", r.Work, r.Callers, r.Of, r.To), r.Median, atLeast, r.Median >= atLeast})
			}
		}
	}
	return all
}
