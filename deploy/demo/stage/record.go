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

// Event is what a process writes down at a moment of its life.
type Event string

const (
	// Granted: from At on the process holds Token, and believes in it unless the story starts belief with Began.
	Granted Event = "granted"
	// Began: the run under Token begins.
	Began Event = "began"
	// Ended: the process stopped believing in Token at Until. Lost says that the permit was not released before.
	Ended Event = "ended"
	// Denied: the answer was a denial, for Text.
	Denied Event = "denied"
)

// Record is one line of a process's account. Instants are readings of the machine's shared clock.
type Record struct {
	Event     Event         `json:"event"`
	At        time.Duration `json:"at"`
	Semaphore string        `json:"semaphore,omitempty"`
	Holder    string        `json:"holder,omitempty"`
	Token     uint64        `json:"token,omitempty"`
	Weight    uint32        `json:"weight,omitempty"`
	// Due is the firing that was claimed with the grant.
	Due time.Time `json:"due,omitzero"`
	// Asked is when the acquisition began.
	Asked time.Duration `json:"asked,omitempty"`
	Step  int           `json:"step,omitempty"`
	Until time.Duration `json:"until,omitempty"`
	Lost  bool          `json:"lost,omitempty"`
	Text  string        `json:"text,omitempty"`
	// Job is the id of a job, whose task of index Step this is about.
	Job string `json:"job,omitempty"`
	// Revision is up to where the process has seen the changes of the job.
	Revision uint64 `json:"revision,omitempty"`
}

// Account is where a process of a story writes down what it believes and does.
type Account struct{ *account.Writer }

// Begin reads the settings with which Stage.Start started this process, and returns its account. args are the part's
// name and the settings.
func Begin(args []string, settings any) (Account, error) {
	a := Account{account.Inherited()}
	if len(args) != 2 {
		return a, fmt.Errorf("a process of a story needs its part and its settings, not %q", args)
	}
	return a, json.Unmarshal([]byte(args[1]), settings)
}

// Write adds a record with the current time.
func (a Account) Write(r Record) {
	r.At = boottime.Now()
	a.Writer.Write(r)
}

// Hold writes down e, from which on the process believes in p, and Ended when belief ends. what completes the first
// record. Call Stop before the release.
func (a Account) Hold(p *client.Permit, e Event, what Record) *belief.Watch {
	what.Event, what.Semaphore, what.Holder, what.Token = e, p.Semaphore(), p.Acquirer(), p.Token()
	a.Write(what)
	return belief.Of(p, func(until time.Duration, lost bool) {
		a.Write(Record{Event: Ended, Semaphore: what.Semaphore, Holder: what.Holder, Token: what.Token, Until: until, Lost: lost})
	})
}
