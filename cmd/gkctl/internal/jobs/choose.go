package jobs

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// choice holds the flags that select jobs.
type choice struct {
	f      *conn.Factory
	req    gatekeeperv1.ListJobsRequest
	states []string
	flags  *pflag.FlagSet
}

func (o *choice) register(cmd *cobra.Command) {
	o.flags = cmd.Flags()
	cmd.Flags().StringVar(&o.req.Semaphore, "semaphore", "", "only jobs for the semaphore `NAME`")
	_ = cmd.RegisterFlagCompletionFunc("semaphore", o.f.CompleteNames) // fails only if there is no such flag
	cmd.Flags().StringSliceVar(&o.states, "state", nil, "only jobs in one of these `STATES`: receiving, open, ended, cancelled")
	ui.RegisterSelector(cmd, &o.req.Labels, "only jobs with these labels")
}

// given reports whether any flag selects jobs.
func (o *choice) given() bool {
	return o.req.GetSemaphore() != "" || o.req.GetLabels() != "" || len(o.states) > 0
}

// find returns the selected jobs, or all jobs if no flag was given.
func (o *choice) find(ctx context.Context, c *client.Client) ([]*gatekeeperv1.Job, error) {
	// A script with an unset variable passes an empty value, which would select all jobs.
	if o.flags.Changed("semaphore") && o.req.GetSemaphore() == "" || o.flags.Changed("state") && len(o.states) == 0 {
		return nil, ui.Usagef("--semaphore and --state must not be empty: omit them, or specify values")
	}
	var err error
	if o.req.States, err = parseStates[gatekeeperv1.JobState](o.states, gatekeeperv1.JobState_value, "JOB_STATE_"); err != nil {
		return nil, err
	}
	jobs := []*gatekeeperv1.Job{}
	for j, err := range work.List(ctx, c, &o.req) {
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 && o.req.GetSemaphore() != "" {
		return jobs, lookup.CheckDefined(ctx, c, []string{o.req.GetSemaphore()}, nil)
	}
	return jobs, nil
}

// mustFind is like find, but for a command that changes jobs: it returns an error if no jobs match. If ids are given,
// it returns the jobs with those ids, or an error if one of them does not exist.
func (o *choice) mustFind(ctx context.Context, c *client.Client, ids []string) (jobs []*gatekeeperv1.Job, err error) {
	ctx, cancel := o.f.Bounded(ctx)
	defer cancel()
	for _, id := range ids {
		j, err := work.Get(ctx, c, id)
		if err != nil {
			return nil, addHint(err)
		}
		jobs = append(jobs, j)
	}
	if len(ids) > 0 {
		return jobs, nil
	}
	jobs, err = o.find(ctx, c)
	if err == nil && len(jobs) == 0 {
		err = &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New("no jobs match"), Hint: "Nothing was changed. `gkctl job list -o wide` shows the jobs and their labels."}
	}
	return jobs, err
}

// parseStates converts names to enum values.
func parseStates[E ~int32](names []string, values map[string]int32, prefix string) (out []E, err error) {
	for _, name := range names {
		v, ok := values[prefix+strings.ToUpper(name)]
		if !ok || v == 0 {
			return nil, ui.Usagef("--state %q is not a valid state: see --help", name)
		}
		out = append(out, E(v))
	}
	return out, nil
}

func newList(f *conn.Factory) *cobra.Command {
	var output ui.Output
	o := &choice{f: f}
	cmd := &cobra.Command{
		Use:   "list [--semaphore NAME] [-l LABELS] [--state STATE,...]",
		Short: "Show jobs in order of submission",
		Example: `  gkctl job list
  gkctl job list --semaphore resize --state open -o wide`,
		Args: ui.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				jobs, err := o.find(ctx, c)
				if err != nil {
					return err
				}
				return f.Print(output, listing(jobs, ui.Items(ui.Messages(jobs))))
			})
		},
	}
	o.register(cmd)
	output.Register(cmd, ui.Table, ui.Wide, ui.JSON, ui.YAML, ui.Name)
	return cmd
}
