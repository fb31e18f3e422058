package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type releaseOptions struct {
	*app
	tokens []uint64
	notRun bool
	cut    bool
}

func newRelease(a *app) *cobra.Command {
	o := &releaseOptions{app: a}
	cmd := &cobra.Command{
		Use:   "release TOKEN...",
		Short: "Give permits back",
		Long:  `Gives permits back. What ran under them must have stopped. Exits with 1 when one of them had ended before, and says how.`,
		Args:  atLeastOne("the tokens of permits"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.notRun && o.cut {
				return usagef("--not-run does not go with --cut-short: what was cut short has run")
			}
			if o.tokens, err = tokens(args); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&o.notRun, "not-run", false, "nothing ran: the firing may be claimed again")
	cmd.Flags().BoolVar(&o.cut, "cut-short", false, "what ran was stopped before its end: firing_on_loss of the definition decides about the firing")
	return cmd
}

func (o *releaseOptions) run(ctx context.Context) error {
	outcome := gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE
	switch {
	case o.notRun:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN
	case o.cut:
		outcome = gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT
	}
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		var failed []error
		for _, t := range o.tokens {
			r, err := c.Permits().Release(ctx, &gatekeeperv1.ReleaseRequest{Token: t, Outcome: outcome})
			switch {
			case err != nil:
				failed = append(failed, err)
			case !r.GetReleased():
				failed = append(failed, &client.EndedError{Token: t, Message: r.GetMessage()})
			default:
				fmt.Fprintf(o.out, "%d released\n", t)
			}
		}
		if len(failed) == 1 {
			return failed[0]
		}
		return errors.Join(failed...)
	})
}
