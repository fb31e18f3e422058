package change

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// EndingFlags holds --for and --until, which set when a change ends.
type EndingFlags struct {
	lasts time.Duration
	until string
	flags *pflag.FlagSet
}

// Ending specifies when a change ends: after a duration or at a time. At most one of its fields is set.
type Ending struct {
	Duration *durationpb.Duration
	Until    *timestamppb.Timestamp
}

// Register adds the flags. what describes --for in the help text.
func (f *EndingFlags) Register(cmd *cobra.Command, what string) {
	f.flags = cmd.Flags()
	f.flags.DurationVar(&f.lasts, "for", 0, what+", for example 2h")
	f.flags.StringVar(&f.until, "until", "", "like --for, but as a time: 2026-01-31T02:00:00Z, or 02:00 for the next 02:00 local time")
}

// Read validates the flags and returns the ending. Times of day are resolved relative to now, the local time.
func (f *EndingFlags) Read(now time.Time) (Ending, error) {
	lasts, until := f.flags.Changed("for"), f.flags.Changed("until")
	switch {
	case lasts && until:
		return Ending{}, ui.Usagef("--for and --until cannot be combined")
	case lasts && f.lasts <= 0:
		return Ending{}, ui.Usagef("--for %s must be greater than 0", f.lasts)
	case lasts:
		return Ending{Duration: durationpb.New(f.lasts)}, nil
	case until:
		t, err := ui.ParseTime("--until", f.until, now, ui.Future)
		if err != nil {
			return Ending{}, err
		}
		if !t.After(now) {
			return Ending{}, ui.Usagef("--until %s is in the past: the local time is %s", f.until, now.Format(time.RFC3339))
		}
		return Ending{Until: timestamppb.New(t)}, nil
	}
	return Ending{}, nil
}

// Given reports whether an ending was specified.
func (e Ending) Given() bool { return e.Duration != nil || e.Until != nil }

// Text returns " for 2h" or " until TIME", or an empty string if neither was given.
func (e Ending) Text() string {
	switch {
	case e.Duration != nil:
		return " for " + words.Duration(e.Duration)
	case e.Until != nil:
		return " until " + words.When(e.Until)
	}
	return ""
}

// DrainFlag holds --drain, which sets how long holders that must stop may continue.
type DrainFlag struct{ Drain time.Duration }

// Register adds the flag.
func (f *DrainFlag) Register(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.Drain, "drain", 0, "how long holders that must stop may continue, for example 2m; without it, their next refresh is refused")
}

// Read returns the drain, or nil if none was given.
func (f *DrainFlag) Read() (*durationpb.Duration, error) {
	switch {
	case f.Drain < 0:
		return nil, ui.Usagef("--drain %s must not be negative", f.Drain)
	case f.Drain == 0:
		return nil, nil
	}
	return durationpb.New(f.Drain), nil
}

// RepeatFlag holds --request-id, which makes it safe to retry a change whose outcome is unknown.
type RepeatFlag struct{ id string }

// Register adds the flag.
func (f *RepeatFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.id, "request-id", "", "retry a change whose outcome is unknown; a change that has already been made is not made again")
}

// RequestID returns the id of the change. It is the same for every attempt.
func (f *RepeatFlag) RequestID() string {
	if f.id == "" {
		f.id = client.NewRequestID()
	}
	return f.id
}

// Unknown adds a hint to an error that leaves the outcome of a change unknown. It returns other errors unchanged.
func (f *RepeatFlag) Unknown(err error) error {
	return UnknownOutcome(err, fmt.Sprintf("rerun the command with --request-id %s, which prints the change's number, and makes the change only if it has not been made yet.", f.RequestID()))
}

// UnknownOutcome adds a hint to an error that leaves the outcome of a change unknown. The hint says how to find out
// whether the change was made, and ends with the given text. Other errors are returned unchanged.
func UnknownOutcome(err error, how string) error {
	if !errors.Is(err, client.ErrOutcomeUnknown) {
		return err
	}
	return &ui.CodeError{Code: ui.ExitUnreachable, Err: err, Hint: "The change may or may not have been made. `gkctl history -n 5` shows whether it was; or " + how}
}
