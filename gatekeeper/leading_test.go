package gatekeeper

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestReady_LeaderWithDefinitions_WaitsUntilTheyAreDeclared(t *testing.T) {
	t.Parallel()
	l := &leading{definitions: []*semaphore.Definition{{Name: "a"}}}
	if err := l.ready(false); err != nil {
		t.Errorf("ready() of a follower = %v, want nil", err)
	}
	if err := l.ready(true); err == nil {
		t.Error("ready() of a leader = nil before it has declared its definitions")
	}
	l.declared.Store(true)
	if err := l.ready(true); err != nil {
		t.Errorf("ready() of a leader after declaring = %v, want nil", err)
	}
	if err := new(leading).ready(true); err != nil {
		t.Errorf("ready() without definitions = %v, want nil", err)
	}
}
