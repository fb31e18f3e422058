package change

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// planned is the servers' answer to a change that they plan: what it does, or did.
type planned interface {
	proto.Message
	// GetRevision is 0 while nothing has been changed.
	GetRevision() uint64
	GetPlan() string
}

// PlannedChange is a change in two calls: the first plans it, the second carries out that plan or nothing.
type PlannedChange[R planned] struct {
	// Call asks the servers. A dry run only plans; plan is the one that was agreed to, or empty.
	Call func(ctx context.Context, dryRun bool, plan string) (R, error)
	// Refused says how to go on after an error.
	Refused func(error) error
	// Settled reports whether a planned change needs no second call.
	Settled func(R) bool
	// Proposal is the plan as a person is asked about it.
	Proposal func(R) *Proposal
}

// Run makes the change as the flags say, and returns the last answer.
func (p *PlannedChange[R]) Run(ctx context.Context, to *conn.Factory, flags *AskFlags) (R, error) {
	call := func(dryRun bool, plan string) (R, error) {
		ctx, cancel := to.Bounded(ctx)
		defer cancel()
		r, err := p.Call(ctx, dryRun, plan)
		if errors.Is(err, client.ErrOutcomeUnknown) {
			return r, flags.Unknown(err)
		}
		return r, p.Refused(err)
	}
	if flags.Yes && !flags.DryRun {
		return call(false, "")
	}
	r, err := call(true, "")
	if err != nil || flags.DryRun || p.Settled(r) {
		return r, err
	}
	if _, err := Agree(ctx, to.IO, p.Proposal(r), flags.YesFlag); err != nil {
		return r, err
	}
	return call(false, r.GetPlan())
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
