package gktest

import (
	"errors"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
)

func TestPause_DeniesUntilResume(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1")
		srv.Pause(t, "job", "disk is full")
		if d, ok := errors.AsType[*client.DeniedError](secondResult(c.Semaphore("job").TryAcquire(t.Context()))); !ok || d.Reason != client.ReasonPaused {
			t.Errorf("TryAcquire during the pause = %v, want ReasonPaused", d)
		}
		srv.Resume(t, "job")
		acquire(t, c, "job")
	})
}

func TestPauseAndStop_StopsTheHolder(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		p := acquire(t, srv.Dial(t, "app1"), "job")
		srv.Advance(t, 2*time.Second)
		srv.PauseAndStop(t, "job", "disk is full", 0)
		srv.Advance(t, 0)
		wantCause(t, p.Context(), client.ErrPaused)
	})
}
