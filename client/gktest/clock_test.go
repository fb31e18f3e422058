package gktest

import (
	"testing"
	"time"
)

func TestClockRate_Fast_BeliefEndsSooner(t *testing.T) {
	inBubbleOf(t, func(t *testing.T, srv *Server) {
		c := srv.Dial(t, "app1", ClockRate(2))
		p := acquire(t, c, "job") // a minute, less the margin
		srv.Partition(t, c)
		srv.Advance(t, 29*time.Second)
		if !p.Held() {
			t.Error("ended too soon")
		}
		srv.Advance(t, time.Second)
		if p.Held() {
			t.Error("held for a minute of the test's time")
		}
	})
}
