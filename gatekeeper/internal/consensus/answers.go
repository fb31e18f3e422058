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
	heard   time.Time // when it last acknowledged entries: a peer whose disk is stalled still answers heartbeats
}

func newAnswers() *answers {
	return &answers{changed: make(chan struct{}, 1), latest: make(map[raft.ServerID]answer)}
}

// note records that peer acknowledged, in term, a request sent at the given time. matched is 0 for a heartbeat.
func (a *answers) note(peer raft.ServerID, term uint64, sent time.Time, matched uint64) {
	now := time.Now()
	a.mu.Lock()
	have := a.latest[peer]
	if term > have.term {
		have = answer{term: term}
	}
	if term == have.term {
		if sent.After(have.sent) {
			have.sent = sent
		}
		if matched > 0 {
			have.matched, have.heard = max(have.matched, matched), now
		}
		a.latest[peer] = have
	}
	a.mu.Unlock()
	signal(a.changed)
}

// in returns the peer's answer in term, or the zero value.
func (a *answers) in(term uint64, peer raft.ServerID) answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if have := a.latest[peer]; have.term == term {
		return have
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
