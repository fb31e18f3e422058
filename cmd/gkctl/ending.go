package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// endingFlags are --for and --until: when a change ends by itself.
type endingFlags struct {
	lasts time.Duration
	until string
	flags *pflag.FlagSet
}

// ending is when a change ends; at most one of the two is set.
type ending struct {
	lasts *durationpb.Duration
	until *timestamppb.Timestamp
}

func (f *endingFlags) register(cmd *cobra.Command, what string) {
	f.flags = cmd.Flags()
	f.flags.DurationVar(&f.lasts, "for", 0, what+", for example 2h")
	f.flags.StringVar(&f.until, "until", "", "the same, at a time: 2026-01-31T02:00:00Z, or 02:00 for the next such time here")
}

// read reads the flags. now is the local time, for times of day.
func (f *endingFlags) read(now time.Time) (ending, error) {
	lasts, until := f.flags.Changed("for"), f.flags.Changed("until")
	switch {
	case lasts && until:
		return ending{}, ui.Usagef("--for and --until contradict each other: give one of them")
	case lasts && f.lasts <= 0:
		return ending{}, ui.Usagef("--for %s would end before it began: it must be above 0; without --for it stays until it is changed", f.lasts)
	case lasts:
		return ending{lasts: durationpb.New(f.lasts)}, nil
	case until:
		t, err := ui.ParseTime("--until", f.until, now, ui.Ahead)
		if err != nil {
			return ending{}, err
		}
		if !t.After(now) {
			return ending{}, ui.Usagef("--until %s has passed: it is %s here", f.until, now.Format(time.RFC3339))
		}
		return ending{until: timestamppb.New(t)}, nil
	}
	return ending{}, nil
}

// given says whether there is an end.
func (e ending) given() bool { return e.lasts != nil || e.until != nil }

// text is " for 2h", or " until TIME"; empty without an end.
func (e ending) text() string {
	switch {
	case e.lasts != nil:
		return " for " + words.Duration(e.lasts)
	case e.until != nil:
		return " until " + words.When(e.until)
	}
	return ""
}

// drainFlag is --drain: how long holders that are to stop may go on.
type drainFlag struct{ drain time.Duration }

func (f *drainFlag) register(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.drain, "drain", 0, "how long holders that are told to stop may go on, for example 2m; without it their next refresh is refused")
}

// read is nil without a drain.
func (f *drainFlag) read() (*durationpb.Duration, error) {
	switch {
	case f.drain < 0:
		return nil, ui.Usagef("--drain %s must not be below 0", f.drain)
	case f.drain == 0:
		return nil, nil
	}
	return durationpb.New(f.drain), nil
}
