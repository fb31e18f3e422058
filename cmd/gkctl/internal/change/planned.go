package change

import (
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// planned is the servers' answer to a change that they plan: what it does, or did.
type planned interface {
	proto.Message
	// GetRevision is 0 while nothing has been changed.
	GetRevision() uint64
	GetPlan() string
}

// PlannedChange makes a change in two calls: the first plans it, the second carries out that plan or nothing.
type PlannedChange[R planned] struct {
	// Call asks the servers. A dry run only plans; plan is the one that was agreed to, or empty.
	Call func(dryRun bool, plan string) (R, error)
	// Settled reports whether a planned change needs no second call.
	Settled func(R) bool
	// Ask shows the plan, and fails unless it is agreed to.
	Ask func(R) error
}

// Run returns the last answer.
func (c *PlannedChange[R]) Run(dryRun, yes bool) (R, error) {
	if yes && !dryRun {
		return c.Call(false, "")
	}
	r, err := c.Call(true, "")
	if err != nil || dryRun || c.Settled(r) {
		return r, err
	}
	if err := c.Ask(r); err != nil {
		return r, err
	}
	return c.Call(false, r.GetPlan())
}

// PrintPlanned prints a planned change as an object. The object always has a revision, 0 after a dry run.
func PrintPlanned(s *ui.IO, format ui.Output, r planned) error {
	if r.GetRevision() != 0 {
		return s.PrintObject(format, r)
	}
	data, err := ui.Joined(r, struct {
		Revision uint64 `json:"revision,string"`
	}{})
	if err != nil {
		return err
	}
	return s.PrintObject(format, data)
}
