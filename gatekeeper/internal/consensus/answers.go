package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// answers records for each peer the latest term in which it acknowledged a request, and when this server sent the
// newest request that the peer acknowledged in that term.
type answers struct {
	// changed holds a token if an answer has been recorded since the token was last taken.
	changed chan struct{}

	mu     sync.Mutex // guards latest
	latest map[raft.ServerID]answer
}

type answer struct {
	term    uint64
	sent    time.Time
	matched uint64    // the highest index that the peer's log shares with ours
	ackedAt time.Time // when it last acknowledged entries: a peer whose disk is stalled still answers heartbeats
}

func newAnswers() *answers {
	return &answers{changed: make(chan struct{}, 1), latest: make(map[raft.ServerID]answer)}
}

// ack records that peer acknowledged, in term, a request sent at the given time. matched is 0 for a heartbeat.
func (a *answers) ack(peer raft.ServerID, term uint64, sent time.Time, matched uint64) {
	now := time.Now()
	a.mu.Lock()
	last := a.latest[peer]
	if term > last.term {
		last = answer{term: term}
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

// inTerm returns the peer's answer in term, or the zero value.
func (a *answers) inTerm(term uint64, peer raft.ServerID) answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last := a.latest[peer]; last.term == term {
		return last
	}
	return answer{}
}

// signal puts a token into a channel of capacity 1, unless it already holds one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
