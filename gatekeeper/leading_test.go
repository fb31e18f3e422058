package gatekeeper

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestReady_WithDefinitions_ALeaderWaitsUntilTheyAreDeclared(t *testing.T) {
	t.Parallel()
	l := &leading{definitions: []*semaphore.Definition{{Name: "a"}}}
	if err := l.ready(false); err != nil {
		t.Errorf("a follower, whose leader may have others: %v", err)
	}
	if err := l.ready(true); err == nil {
		t.Error("a leader is ready before it has declared")
	}
	l.declared.Store(true)
	if err := l.ready(true); err != nil {
		t.Errorf("it has declared: %v", err)
	}
	if err := new(leading).ready(true); err != nil {
		t.Errorf("there is nothing to declare: %v", err)
	}
}
