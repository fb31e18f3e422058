package main

import "time"

// event is what the hosts of a zone write down.
type event string

const (
	// eventWaits: the group is not admitted; it asks again when the definition is edited.
	eventWaits event = "waits"
	// eventEdited: it heard of an edit of the definition.
	eventEdited event = "edited"
	// eventGranted: from At on it believes that it holds Token.
	eventGranted event = "granted"
	// eventTold: it was told to stop, with Drain.
	eventTold event = "told"
	// eventEnded: it stopped believing at Until. Lost says that it had not released before.
	eventEnded event = "ended"
)

// record is one line of a zone's account. Instants are readings of the machine's shared clock.
type record struct {
	Event event         `json:"event"`
	Task  string        `json:"task"`
	At    time.Duration `json:"at"`
	Host  string        `json:"host,omitempty"`
	Token uint64        `json:"token,omitempty"`
	Drain time.Duration `json:"drain,omitempty"`
	Until time.Duration `json:"until,omitempty"`
	Lost  bool          `json:"lost,omitempty"`
	Cause string        `json:"cause,omitempty"`
}
