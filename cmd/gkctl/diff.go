package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
)

type diffOptions struct {
	*app
	files  fileFlag
	prune  bool
	labels string
}

func newDiff(a *app) *cobra.Command {
	o := &diffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff -f FILE [--prune -l SELECTOR]",
		Short: "Show what apply would change; exits with 1 on differences",
		Long: `Shows as a unified diff what ` + "`gkctl apply`" + ` with the same flags would change. Exits with 0 when there is no difference, with 1 when
there is one, and with more when it could not be found out, or when an entry has a version that is no longer the current one.`,
		Example: `  gkctl diff -f nightly.yaml
  gkctl diff -f definitions/ --prune -l managed-by=git`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := o.run(cmd.Context())
			if code, _ := classify(cmd, err); err != nil && err != errDifferent && code == exitFailure { //nolint:errorlint // ours, and never wrapped
				return &codeError{code: exitLost, err: err} // 1 would say that there are differences
			}
			return err
		},
	}
	o.files.register(cmd)
	cmd.Flags().BoolVar(&o.prune, "prune", false, "as of apply")
	cmd.Flags().StringVarP(&o.labels, "selector", "l", "", "labels of what --prune may delete")
	return cmd
}

// errDifferent ends diff without a word when there are differences.
var errDifferent error = &codeError{code: exitFailure}

func (o *diffOptions) run(ctx context.Context) error {
	if o.prune != (o.labels != "") {
		return usagef("--prune and -l are given together")
	}
	files, err := o.files.read(o.in)
	if err != nil {
		return err
	}
	return o.connected(ctx, func(ctx context.Context, c *client.Client) error {
		ctx, cancel := o.bounded(ctx)
		defer cancel()
		plan, err := planOf(ctx, c, files, o.labels)
		if err != nil {
			return err
		}
		different := false
		for i := range plan {
			if plan[i].action() == actionUnchanged {
				continue
			}
			text, err := plan[i].unified()
			if err != nil {
				return err
			}
			different = true
			if _, err := o.out.Write(text); err != nil {
				return err
			}
		}
		if different {
			return errDifferent
		}
		return nil
	})
}
