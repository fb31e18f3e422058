package main

import (
	"time"

	own "github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// event is what a host writes down at a moment of its life. Instants are readings of the machine's shared clock.
type event string

const (
	// eventDenied: it was told no, for Reason.
	eventDenied event = "denied"
	// eventGranted: from At on it believes that it holds Token.
	eventGranted event = "granted"
	// eventEnded: at At it stopped believing, or had stopped before: see Until. Reason says how.
	eventEnded event = "ended"
	// eventGaveUp: it asked for long and got neither a permit nor a no.
	eventGaveUp event = "gave up"
)

// How a belief ends.
const (
	endReleased = "released"
	endLost     = "lost"
)

// record is one line of a host's account.
type record struct {
	Event     event         `json:"event"`
	Semaphore string        `json:"semaphore"`
	At        time.Duration `json:"at"`
	Token     uint64        `json:"token,omitempty"`
	Weight    uint32        `json:"weight,omitempty"`
	// Asked is when the acquisition began; only of grants.
	Asked time.Duration `json:"asked,omitempty"`
	// Firing is the due run that was claimed; only of grants, and empty without one.
	Firing string `json:"firing,omitempty"`
	// Ran says that the job was begun; only of ends.
	Ran bool `json:"ran,omitempty"`
	// Until is when belief ended; only of ends.
	Until  time.Duration `json:"until,omitempty"`
	Reason string        `json:"reason,omitempty"`
}

// account is where a host writes down what it believes.
type account struct{ *own.Writer }

// write adds a record, with the time of now unless it has one.
func (a *account) write(r record) {
	if r.At == 0 {
		r.At = boottime.Now()
	}
	a.Write(r)
}
