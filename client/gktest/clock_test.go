package gktest

import (
	"testing"
	"time"
)

func TestClockRate_Fast_PermitEndsSooner(t *testing.T) {
	runInBubble(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1", ClockRate(2))
		p := acquire(t, c, "job") // valid for one minute, minus the margin
		srv.Partition(t, c)
		srv.Advance(t, 29*time.Second)
		if !p.Held() {
			t.Error("the permit ended before 30 s")
		}
		srv.Advance(t, time.Second)
		if p.Held() {
			t.Error("the permit was still held after 30 s")
		}
	})
}
