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
	stores []string
	// peer and peerHow select the peer to compare with. If they are empty, the target is in operations per second.
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
		{pairs, acquire, []string{wal}, "etcd", "Txn, Delete", map[int]float64{1: 1.2, 16: 1.6, 64: 2.2, 256: 2.5}, false},
		{pairs, acquire, []string{bolt}, "etcd", "Txn, Delete", map[int]float64{1: 0.8, 16: 1.2, 64: 1.8, 256: 2.4}, false},
		{pairs, acquire, nil, "etcd", "Mutex.TryLock, Unlock", map[int]float64{64: 3.2}, false},
		{denials, "TryAcquire", nil, "etcd", "Txn that fails", map[int]float64{64: 3.9}, false},
		{denials, "TryAcquire", nil, echo, "", map[int]float64{64: 0.65, 256: 0.80}, false},
		{refreshes, "KeepAlive stream", nil, "etcd", "LeaseKeepAlive stream", map[int]float64{64: 0.8, 256: 0.8}, false},
		{tokens, "KeepAlive stream", nil, "", "", map[int]float64{64: 2e6}, false},
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

// judge compares the results with the targets. It skips targets without results.
func judge(cells []*cell, ratios []ratio) []verdict {
	var all []verdict
	add := func(what string, reached, atLeast float64) {
		all = append(all, verdict{what, reached, atLeast, reached >= atLeast})
	}
	for _, t := range targets() {
		for _, r := range ratios {
			if atLeast, ok := t.at[r.Callers]; ok && t.covers(r.of) && r.to.System == t.peer && r.to.How == t.peerHow {
				add(fmt.Sprintf("%s at %d: %s / %s", r.Work, r.Callers, r.Of, r.To), r.Median, atLeast)
			}
		}
		for _, c := range cells {
			if atLeast, ok := t.at[c.Callers]; ok && t.peer == "" && c.Store != "" && t.covers(&c.variant) {
				add(fmt.Sprintf("%s at %d: %s", c.Work, c.Callers, c.name()), c.medianFigure().PerSecond, atLeast)
			}
		}
	}
	return all
}
