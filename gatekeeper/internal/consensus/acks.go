package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// acks records for each peer the latest term in which it acknowledged a request, and when this server sent the
// newest request that the peer acknowledged in that term.
type acks struct {
	// changed holds a token if an acknowledgement has been recorded since the token was last taken.
	changed chan struct{}

	mu     sync.Mutex // guards latest
	latest map[raft.ServerID]peerAck
}

type peerAck struct {
	term    uint64
	sent    time.Time
	matched uint64    // the highest index that the peer's log shares with ours
	ackedAt time.Time // when it last acknowledged entries; a peer whose disk is stalled still responds to heartbeats
}

func newAcks() *acks {
	return &acks{changed: make(chan struct{}, 1), latest: make(map[raft.ServerID]peerAck)}
}

// ack records that peer acknowledged, in term, a request sent at the given time. matched is 0 for a heartbeat.
func (a *acks) ack(peer raft.ServerID, term uint64, sent time.Time, matched uint64) {
	now := time.Now()
	a.mu.Lock()
	last := a.latest[peer]
	if term > last.term {
		last = peerAck{term: term}
	}
	if term == last.term {
		if sent.After(last.sent) {
			last.sent = sent
		}
		if matched > 0 {
			last.matched, last.ackedAt = max(last.matched, matched), now
		}
		a.latest[peer] = last
	}
	a.mu.Unlock()
	signal(a.changed)
}

// inTerm returns what the peer acknowledged in term, or the zero value.
func (a *acks) inTerm(term uint64, peer raft.ServerID) peerAck {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := a.latest[peer]; last.term == term {
		return last
	}
	return peerAck{}
}

// signal puts a token into a channel of capacity 1, unless it already holds one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
