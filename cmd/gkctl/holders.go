package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type holdersOptions struct {
	*app
	output outputFlag
	globs  []string
}

func newHolders(a *app) *cobra.Command {
	o := &holdersOptions{app: a}
	cmd := &cobra.Command{
		Use:               "holders [NAME|GLOB...]",
		Short:             "Show who holds permits",
		ValidArgsFunction: a.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.globs = args
			return o.run(cmd.Context())
		},
	}
	o.output.register(cmd, formatTable, formatWide, formatJSON, formatYAML, formatName)
	return cmd
}

func (o *holdersOptions) run(ctx context.Context) error {
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		permits := []*gatekeeperv1.Permit{}
		for p, err := range c.AllHolders(ctx, &gatekeeperv1.ListHoldersRequest{Names: o.globs}) {
			if err != nil {
				return err
			}
			permits = append(permits, p)
		}
		return o.print(o.output, listing{
			headers: []string{"SEMAPHORE", "GROUP", "ACQUIRER", "WEIGHT", "TOKEN", "STATE", "SINCE", "EXPIRES IN"},
			more:    []string{"HOLDER", "DURATION", "FIRING", "METADATA"},
			rows:    mapped(permits, permitRow),
			object:  items[*gatekeeperv1.Permit]{permits},
			empty:   "Nobody holds a permit.",
		})
	})
}

func permitRow(p *gatekeeperv1.Permit) row {
	expires := ""
	if p.GetExpiresIn() != nil {
		expires = brief(p.GetExpiresIn().AsDuration())
	}
	return row{
		name: number(p.GetToken()),
		cells: []string{
			p.GetSemaphore(), p.GetIdentity().GetGroup(), p.GetIdentity().GetAcquirer(), number(p.GetWeight()), number(p.GetToken()),
			permitState(p), ago(p.GetGrantedAt()), expires,
		},
		more: []string{p.GetIdentity().GetHolderId(), duration(p.GetDuration()), firing(p.GetFiring()), pairs(p.GetMetadata())},
	}
}

func permitState(p *gatekeeperv1.Permit) string {
	s := word(p.GetState(), "PERMIT_STATE_")
	if cause := word(p.GetStop(), "STOP_CAUSE_"); cause != "" {
		s += ", stopping: " + cause
		if p.GetStopReason() != "" {
			s += " (" + p.GetStopReason() + ")"
		}
	}
	return s
}
