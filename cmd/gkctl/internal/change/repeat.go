package change

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// RepeatFlag lets a person repeat a change of which it is not known whether it was done.
type RepeatFlag struct{ id string }

// Register adds the flag.
func (f *RepeatFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.id, "request-id", "", "repeat a change whose outcome is not known: if it was done, it is not done again")
}

// RequestID is that of the change; every attempt of it has the same.
func (f *RepeatFlag) RequestID() string {
	if f.id == "" {
		f.id = client.NewRequestID()
	}
	return f.id
}

// Unknown says of a change whose outcome is not known how to find out. Other errors stay as they are.
func (f *RepeatFlag) Unknown(err error) error {
	return UnknownOutcome(err, fmt.Sprintf("repeat the command with --request-id %s, which does nothing if it was done, and tells its change.", f.RequestID()))
}

// UnknownOutcome says that it is not known whether a change was done, and how to find out.
func UnknownOutcome(err error, how string) error {
	if !errors.Is(err, client.ErrOutcomeUnknown) {
		return err
	}
	return &ui.CodeError{Code: ui.ExitUnreachable, Err: err, Hint: "It may be done, or not. `gkctl history -n 5` shows whether it is; or " + how}
}
