package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

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

// account is where a host writes down what it believes, one line a record, at once: a host that is killed has told everything up
// to then.
type account struct {
	mu  sync.Mutex // keeps lines whole
	w   io.Writer
	now func() time.Duration
}

func newAccount(w io.Writer) *account { return &account{w: w, now: boottime.Now} }

// write adds a record. An account that cannot be written makes the host end: what it believes must be known.
func (a *account) write(r record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.At == 0 {
		r.At = a.now()
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = a.w.Write(append(line, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("the host cannot write down what it believes: %v", err))
	}
}

// read reads an account to its end and hands each record to take. A line that was cut off by the host's death is the last and is
// left out.
func read(r io.Reader, take func(record)) error {
	decoder := json.NewDecoder(r)
	for {
		var rec record
		err := decoder.Decode(&rec)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("an account that cannot be read: %w", err)
		}
		take(rec)
	}
}
