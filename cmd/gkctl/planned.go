package main

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

// plannedChange makes a change in two calls: the first plans it, the second carries out that plan or nothing.
type plannedChange[R planned] struct {
	// call asks the servers. A dry run only plans; plan is the one that was agreed to, or empty.
	call func(dryRun bool, plan string) (R, error)
	// settled reports whether a planned change needs no second call.
	settled func(R) bool
	// ask shows the plan, and fails unless it is agreed to.
	ask func(R) error
}

// run returns the last answer.
func (c *plannedChange[R]) run(dryRun, yes bool) (R, error) {
	if yes && !dryRun {
		return c.call(false, "")
	}
	r, err := c.call(true, "")
	if err != nil || dryRun || c.settled(r) {
		return r, err
	}
	if err := c.ask(r); err != nil {
		return r, err
	}
	return c.call(false, r.GetPlan())
}

// printPlanned prints a planned change as an object. The object always has a revision, 0 after a dry run.
func printPlanned(s *ui.IO, format ui.Output, r planned) error {
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
