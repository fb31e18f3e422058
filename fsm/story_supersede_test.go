package fsm_test

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// supersedeCommands returns the commands with the feature level 3 fields for superseded permits. They are frozen.
func supersedeCommands() []fsm.Command {
	return []fsm.Command{
		fsm.Grant{Semaphore: "s", Identity: identity("a"), Weight: 1, Supersedes: 7, Replaces: true, At: at(80)},
		fsm.Abandon{Token: 7, Term: 3, Cooling: time.Second},
		fsm.Cancel{Semaphore: "s", Identity: identity("a"), RequestID: "r", Token: 7, Cooling: 2 * time.Second},
	}
}

// supersedeScenario returns a log with two superseded permits. The holder of one may still rely on it. It is frozen.
func supersedeScenario(tb tester) *log {
	l := newLevel2Log(tb)
	l.apply(fsm.RaiseFeatureLevel{Level: 3})
	d := l.define("s", permits(2))
	reacquire := func(holder string, replaces bool) {
		own := l.state().Own("s", identity(holder))
		l.apply(fsm.Grant{
			Semaphore: "s", Identity: identity(holder), Weight: 1, DefinitionVersion: d.Version,
			RequestID: "again", Supersedes: own.Token, Replaces: replaces, At: at(81),
		})
	}
	l.grant("s", "a", requestID("first"))
	l.grant("s", "b")
	reacquire("a", false)
	reacquire("b", true)
	return l
}
