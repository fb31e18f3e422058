package batcher

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry is one entry handed to a fakeLog, which the test answers when it likes.
type entry struct {
	bytes   []byte
	done    chan struct{}
	results []fsm.Result
	index   uint64
	err     error
}

func (e *entry) Done() <-chan struct{}                  { return e.done }
func (e *entry) Results() ([]fsm.Result, uint64, error) { return e.results, e.index, e.err }

// apply answers as a state machine that tells every command its token.
func (e *entry) apply(index uint64) {
	for _, token := range e.tokens() {
		e.results = append(e.results, fsm.PermitResult{Applied: true, Revision: token})
	}
	e.index = index
	close(e.done)
}

func (e *entry) fail(err error) {
	e.err = err
	close(e.done)
}

func (e *entry) tokens() []uint64 {
	cmds, err := fsm.Decode(e.bytes)
	if err != nil {
		panic(err)
	}
	tokens := make([]uint64, len(cmds))
	for i, c := range cmds {
		tokens[i] = c.(fsm.Extend).Token
	}
	return tokens
}

// fakeLog hands every entry to the test.
type fakeLog chan *entry

func newFakeLog() fakeLog { return make(fakeLog, 1000) }

func (l fakeLog) Append(b []byte) *entry {
	e := &entry{bytes: b, done: make(chan struct{})}
	l <- e
	return e
}

// fixed is a feature level that stays.
func fixed() uint32 { return 1 }

func extend(token int) fsm.Command { return fsm.Extend{Token: uint64(token)} }
