package main

import (
	"fmt"
	"testing"

	"github.com/gatekeeperd/gatekeeper/gatekeeper"
)

func TestExitCode_ForeignOrRemovedMember_Is78(t *testing.T) {
	for _, err := range []error{gatekeeper.ErrForeignDataDir, gatekeeper.ErrJoinRefused, gatekeeper.ErrRemoved} {
		if got := exitCode(fmt.Errorf("%w: more", err)); got != exitForeign {
			t.Errorf("exitCode(%v) = %d, want %d", err, got, exitForeign)
		}
	}
}
