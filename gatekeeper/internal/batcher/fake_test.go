package batcher

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry is an entry appended to a fakeLog. The test completes it.
type entry struct {
	bytes []byte
	end   func(consensus.Appended)
}

// apply completes the entry with results whose revisions are the commands' tokens.
func (e *entry) apply(index uint64) {
	a := consensus.Appended{Index: index}
	for _, token := range e.tokens() {
		a.Results = append(a.Results, fsm.PermitResult{Applied: true, Revision: token})
	}
	e.end(a)
}

func (e *entry) fail(err error) { e.end(consensus.Appended{Err: err}) }

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

// fakeLog sends every appended entry to the test.
type fakeLog chan *entry

func newFakeLog() fakeLog { return make(fakeLog, 1000) }

func (l fakeLog) Append(b []byte) *consensus.Pending {
	p, end := consensus.NewPending()
	l <- &entry{b, end}
	return p
}

// fixedLevel returns a constant feature level.
func fixedLevel() uint32 { return 1 }

func extend(token int) fsm.Command { return fsm.Extend{Token: uint64(token)} }
