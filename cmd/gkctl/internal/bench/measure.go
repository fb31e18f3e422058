package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/loop"
	"github.com/gatekeeperd/gatekeeper/internal/workload"
)

// carryOut takes the measurements, cleans up, and prints the report.
func (o *benchOptions) carryOut(ctx context.Context, control *client.Client, plan *benchPlan) error {
	report := &benchReport{benchPlan: plan, Results: []benchRow{}}
	var fixture *workload.Fixture
	failed := o.withClients(ctx, func(clients []*client.Client) error {
		fixture = o.fixture(control, clients)
		if err := fixture.CheckUnused(ctx); err != nil {
			fixture = nil
			return explainTaken(err)
		}
		if err := fixture.Create(ctx); err != nil {
			return err
		}
		return o.measure(ctx, fixture, report)
	})
	if fixture == nil {
		return failed
	}
	report.Interrupted = ctx.Err() != nil
	if report.Interrupted {
		o.f.Logf("interrupted: deleting the semaphores under %s/; a second Ctrl-C would leave them behind", o.prefix)
	}
	freed, err := fixture.Clear(context.WithoutCancel(ctx))
	report.Cleared = err == nil
	if err := o.printReport(report); err != nil {
		failed = errors.Join(failed, err)
	}
	switch {
	case err != nil:
		code, _ := ui.Classify(nil, err)
		return &ui.CodeError{
			Code: code, Err: errors.Join(fmt.Errorf("could not delete everything under %s/: %w", o.prefix, err), failed),
			Hint: fmt.Sprintf("`gkctl delete '%s/*' --yes` deletes the rest; its permits expire within %s.", o.prefix, words.Brief(fixture.Duration)),
		}
	case report.Interrupted:
		if freed > 0 {
			o.f.Logf("%s for interrupted callers", words.Plural(freed, "permit was released", "permits were released"))
		}
		return ctx.Err()
	case failed != nil:
		return failed
	}
	return report.verdict()
}

// measure runs every workload with every number of callers.
func (o *benchOptions) measure(ctx context.Context, fixture *workload.Fixture, report *benchReport) error {
	for _, kind := range o.kinds {
		for _, callers := range o.callers {
			done := o.f.Progress("%s, %s ...", kind.Name, words.Plural(callers, "caller", "callers"))
			rows, err := o.runOne(ctx, fixture, kind, callers)
			done()
			report.Results = append(report.Results, rows...)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runOne runs one workload with the given number of callers. It returns an error if the workload could not run;
// failures during the run are recorded in the rows.
func (o *benchOptions) runOne(ctx context.Context, fixture *workload.Fixture, kind *workload.Kind, callers int) ([]benchRow, error) {
	s, err := kind.Prepare(ctx, fixture, callers)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s, %s: %w", kind.Name, words.Plural(callers, "caller", "callers"), err)
	}
	window := loop.Window{Callers: s.Callers, Length: o.warmUp, Rate: float64(o.rate)}
	var warm loop.Result
	if o.warmUp > 0 {
		warm = window.Run(ctx, s.Call)
		s.Forget()
	}
	window.Length = o.window
	result := window.Run(ctx, s.Call)
	row := newBenchRow(kind.Name, callers, result)
	row.WarmUpErrors = warm.Errors
	row.fail(warm.Err)

	// Every permit must be released, including those of interrupted callers.
	cleanupCtx := context.WithoutCancel(ctx)
	if err := s.Close(cleanupCtx); err != nil {
		row.Errors++
		row.fail(err)
	}
	if ctx.Err() == nil {
		if row.NotReturned, err = fixture.Release(cleanupCtx); err != nil {
			return nil, err
		}
	}
	if result.Calls+result.Errors == 0 && ctx.Err() != nil {
		return nil, ctx.Err() // no call was started
	}
	rows := []benchRow{row}
	for _, p := range s.Parts {
		rows = append(rows, newBenchRow(kind.Name+"/"+p.Name, callers, loop.Result{
			Elapsed: result.Elapsed, Calls: p.Count(), Operations: p.Count(), Latency: p.Latency(),
		}))
	}
	return rows, ctx.Err()
}
