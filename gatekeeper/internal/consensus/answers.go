package consensus

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// answers keeps, for each peer, when the latest question of a term was sent that the peer answered with yes.
type answers struct {
	// changed holds a token when something was noted since it was last taken.
	changed chan struct{}

	mu     sync.Mutex // guards latest
	latest map[raft.ServerID]answer
}

type answer struct {
	term    uint64
	sent    time.Time
	matched uint64    // the highest index that the peer's log shares with ours
	heard   time.Time // when it last said so: a heartbeat is answered also by one whose disk stalls
}

func newAnswers() *answers {
	return &answers{changed: make(chan struct{}, 1), latest: make(map[raft.ServerID]answer)}
}

// note records that peer said yes in term to a question sent at the given time. A heartbeat has matched 0.
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

// in returns what peer answered in term; zero when nothing.
func (a *answers) in(term uint64, peer raft.ServerID) answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if have := a.latest[peer]; have.term == term {
		return have
	}
	return answer{}
}

// signal puts a token into a channel of one, unless there is one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
