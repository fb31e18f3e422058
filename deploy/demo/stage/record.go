package stage

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/account"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/belief"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// Event is something that a process records.
type Event string

const (
	// Granted means that the process has held Token since At. The belief in Token also starts at that time, unless the
	// scenario starts it with Began.
	Granted Event = "granted"
	// Began means that the run under Token is starting.
	Began Event = "began"
	// Ended means that the belief in Token ended at Until. Lost is true if it ended before a release.
	Ended Event = "ended"
	// Denied means that the response was a denial. Text is the reason.
	Denied Event = "denied"
)

// Record is one line of a process's account. Times are on the machine's shared clock.
type Record struct {
	Event     Event         `json:"event"`
	At        time.Duration `json:"at"`
	Semaphore string        `json:"semaphore,omitempty"`
	Holder    string        `json:"holder,omitempty"`
	Token     uint64        `json:"token,omitempty"`
	Weight    uint32        `json:"weight,omitempty"`
	// Due is the due time of the firing that was claimed with the grant.
	Due time.Time `json:"due,omitzero"`
	// RequestedAt is the time at which the acquisition began.
	RequestedAt time.Duration `json:"asked,omitempty"`
	Step        int           `json:"step,omitempty"`
	Until       time.Duration `json:"until,omitempty"`
	Lost        bool          `json:"lost,omitempty"`
	Text        string        `json:"text,omitempty"`
	// Job is the id of the job that the record's task belongs to. Step is the task's index.
	Job string `json:"job,omitempty"`
	// Revision is the revision of the last change to the job that the process has seen.
	Revision uint64 `json:"revision,omitempty"`
}

// Account records what this process does and believes.
type Account struct{ *account.Writer }

// Begin parses the settings that Stage.Start passed to this process and returns the process's account. args contains
// the name of the part and the settings.
func Begin(args []string, settings any) (Account, error) {
	a := Account{account.Inherited()}
	if len(args) != 2 {
		return a, fmt.Errorf("the arguments must be the name of a part and its settings, not %q", args)
	}
	return a, json.Unmarshal([]byte(args[1]), settings)
}

// Write adds a record with the current time.
func (a Account) Write(r Record) {
	r.At = boottime.Now()
	a.Writer.Write(r)
}

// Hold records e, the event that starts the belief in p, and records Ended when the belief ends. It takes the other
// fields of the first record from what. Call Stop on the returned Watch before the release.
func (a Account) Hold(p *client.Permit, e Event, what Record) *belief.Watch {
	what.Event, what.Semaphore, what.Holder, what.Token = e, p.Semaphore(), p.Acquirer(), p.Token()
	a.Write(what)
	return belief.Start(p, func(until time.Duration, lost bool) {
		a.Write(Record{Event: Ended, Semaphore: what.Semaphore, Holder: what.Holder, Token: what.Token, Until: until, Lost: lost})
	})
}
