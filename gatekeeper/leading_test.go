package gatekeeper

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/batcher"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestLeaderTasks_DefinitionsNotDeclared_NotReady(t *testing.T) {
	t.Parallel()
	l := &leaderTasks{definitions: []*semaphore.Definition{{Name: "a"}}}
	if err := l.ready(false); err != nil {
		t.Errorf("ready() of a follower = %v, want nil", err)
	}
	if err := l.ready(true); err == nil {
		t.Error("ready() of a leader before it has declared its definitions = nil, want an error")
	}
	l.declared.Store(true)
	if err := l.ready(true); err != nil {
		t.Errorf("ready() of a leader after declaring = %v, want nil", err)
	}
	if err := new(leaderTasks).ready(true); err != nil {
		t.Errorf("ready() without definitions = %v, want nil", err)
	}
}

// Two leaders may propose the same change, and the second proposal has no effect.
func TestLeaderTasks_ProposalWithoutEffect_IsNotLogged(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		run  func(l *leaderTasks, done chan struct{})
		text string
	}{
		{"the feature level", func(l *leaderTasks, done chan struct{}) { l.raiseNow(done) }, "raised the feature level"},
		{"the first administrator", func(l *leaderTasks, done chan struct{}) { l.bindFirstAdmin(done) }, "first administrator"},
	} {
		for _, unchanged := range []bool{false, true} {
			var log bytes.Buffer
			machine, done := fsm.New("test"), make(chan struct{})
			if tc.name == "the first administrator" {
				apply(t, machine, fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel})
			}
			l := &leaderTasks{
				state: machine.State, log: slog.New(slog.NewTextHandler(&log, nil)), level: func() uint32 { return fsm.SupportedLevel },
				id: "gk1", admin: "cert:ann",
			}
			l.propose = func(c fsm.Command, callback func(batcher.Outcome)) {
				if unchanged {
					apply(t, machine, c)
				}
				callback(batcher.Outcome{Result: apply(t, machine, c)})
				close(done)
			}
			tc.run(l, done)
			if got := strings.Contains(log.String(), tc.text); got == unchanged {
				t.Errorf("%s, unchanged = %v: log = %q", tc.name, unchanged, log.String())
			}
		}
	}
}

// apply applies a command as the next log entry.
func apply(t *testing.T, m *fsm.Machine, c fsm.Command) fsm.Result {
	t.Helper()
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{c})
	if err != nil {
		t.Fatal(err)
	}
	results, err := m.Apply(m.State().Index()+1, 1, entry)
	if err != nil {
		t.Fatal(err)
	}
	return results[0]
}
