package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

type acquireOptions struct {
	f *conn.Factory
	conn.IdentityFlags
	output      ui.Output
	semaphore   string
	weight      uint32
	firing      string
	requestID   string
	metadata    map[string]string
	wait        waitFlag
	hold        time.Duration
	quiet       bool
	holderIDSet bool // whether --holder-id was given, even if empty
}

func newAcquire(f *conn.Factory, run func(*acquireOptions, context.Context) error) *cobra.Command {
	o := &acquireOptions{f: f}
	cmd := &cobra.Command{
		GroupID:    ui.GroupPermits,
		Use:        "acquire NAME [--group GROUP] [--acquirer ACQUIRER] [--wait] [--hold DURATION]",
		SuggestFor: []string{"lock"},
		Short:      "Acquire a permit and print its token",
		Long: `Acquires a permit and prints its token. The permit lasts for its duration; extend it with ` + "`gkctl refresh`" + `. With --hold, gkctl keeps it
alive for that time, or until it is interrupted, and then releases it.

If it gets no permit, it prints the reason and the current holders, and exits with 75; -o json then prints {"denial": {...}}, as in the API.`,
		Example: `  token=$(gkctl acquire nightly-export) && export.sh && gkctl release "$token"
  gkctl acquire builds --weight 4 --wait=5m --hold 1h`,
		Args:              ui.Exactly(1, "the name of a semaphore"),
		ValidArgsFunction: f.CompleteNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.semaphore = args[0]
			o.holderIDSet = cmd.Flags().Changed("holder-id")
			return run(o, cmd.Context())
		},
	}
	o.IdentityFlags.Register(cmd)
	flags := cmd.Flags()
	flags.Uint32Var(&o.weight, "weight", 1, "take `N` of the permits")
	flags.StringVar(&o.firing, "firing", "", "also claim this firing, given as NAME or NAME@TIME")
	flags.Var(&o.wait, "wait", "wait in the queue, optionally with a limit, for example --wait=5m")
	flags.Lookup("wait").NoOptDefVal = forever
	flags.DurationVar(&o.hold, "hold", 0, "hold the permit for this long, for example 30m, then release it")
	flags.StringVar(&o.requestID, "request-id", "", "id of this acquisition; use the same id to retry it")
	flags.StringToStringVar(&o.metadata, "metadata", nil, "`KEY=VALUE,...` to show with the permit")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "print only the token")
	o.output.Register(cmd, ui.Table, ui.JSON, ui.YAML)
	return cmd
}

// forever is the value of --wait without an argument.
const forever = "forever"

// waitFlag is the value of --wait.
type waitFlag struct {
	set   bool
	limit time.Duration // 0 means no limit
}

func (w *waitFlag) String() string {
	if !w.set {
		return ""
	}
	if w.limit == 0 {
		return forever
	}
	return w.limit.String()
}

func (w *waitFlag) Set(s string) (err error) {
	if w.set = true; s == forever {
		w.limit = 0
		return nil
	}
	if w.limit, err = time.ParseDuration(s); err == nil && w.limit <= 0 {
		err = errors.New("must be greater than 0")
	}
	return err
}

func (w *waitFlag) Type() string { return "DURATION" }

func (o *acquireOptions) run(ctx context.Context) error {
	opts := []client.AcquireOption{client.WithWeight(o.weight), client.WithMetadata(o.metadata)}
	if o.hold < 0 {
		return ui.Usagef("--hold must not be negative")
	}
	if o.firing != "" {
		name, due, err := ui.ParseFiring(o.firing)
		if err != nil {
			return err
		}
		opts = append(opts, client.WithFiring(name, due))
	}
	if o.holderIDSet {
		opts = append(opts, client.WithHolderID(o.HolderID))
	}
	if o.requestID != "" {
		opts = append(opts, client.WithRequestID(o.requestID))
	}
	return o.f.Connect(ctx, func(ctx context.Context, c *client.Client) error {
		p, err := o.acquire(ctx, c.Semaphore(o.semaphore, opts...))
		if d, ok := errors.AsType[*client.DeniedError](err); ok && !o.output.Is(ui.Table) {
			if printErr := o.f.PrintObject(o.output, denialMessage(d)); printErr != nil {
				return printErr
			}
			return err
		}
		if err != nil {
			return err
		}
		if err := o.print(p); err != nil {
			return err
		}
		if o.hold == 0 {
			return nil
		}
		return o.keep(ctx, p)
	}, o.Options()...)
}

func (o *acquireOptions) acquire(ctx context.Context, s *client.Semaphore) (*client.Permit, error) {
	if !o.wait.set {
		ctx, cancel := o.f.Bounded(ctx)
		defer cancel()
		p, err := s.TryAcquire(ctx)
		return p, o.denied(err)
	}
	waitCtx := ctx
	if o.wait.limit > 0 {
		var cancel context.CancelFunc
		waitCtx, cancel = context.WithTimeout(ctx, o.wait.limit)
		defer cancel()
	}
	var place client.Place
	p, err := s.Acquire(waitCtx, client.WithPlace(func(at client.Place) {
		place = at
		if o.f.ErrTTY && !o.quiet {
			o.f.Logf("waiting: place %d of %d%s", at.Place, at.QueueLength, pausedText(at))
		}
	}))
	if err != nil && waitCtx.Err() != nil && ctx.Err() == nil && place != (client.Place{}) {
		return nil, &ui.CodeError{Code: ui.ExitNotAcquired, Err: fmt.Errorf("not acquired within %s: place %d of %d%s", o.wait.limit, place.Place, place.QueueLength, pausedText(place)),
			Hint: "`gkctl holders " + o.semaphore + "` shows the holders."}
	}
	return p, o.denied(err)
}

// pausedText describes the pause of the semaphore that the caller is waiting for. It returns an empty string if the
// semaphore is not paused.
func pausedText(at client.Place) string {
	if at.Pause == nil {
		return ""
	}
	text := ", paused"
	if until := at.Pause.GetUntil(); until != nil {
		text += " until " + until.AsTime().Local().Format(time.DateTime)
	}
	if reason := at.Pause.GetReason(); reason != "" {
		text += ": " + words.Cell(reason)
	}
	return text
}

// denied adds the exit code and a hint to a denial.
func (o *acquireOptions) denied(err error) error {
	d, ok := errors.AsType[*client.DeniedError](err)
	switch {
	case !ok:
		return err
	case d.Reason == client.ReasonNoSuchSemaphore:
		return &ui.CodeError{Code: ui.ExitNoSuch, Err: err, Hint: "`" + d.ExplainCommand() + "` shows how this was decided. `gkctl get` lists the definitions."}
	case heldForOperator(d) != 0:
		return &ui.CodeError{Code: ui.ExitNotAcquired, Err: err,
			Hint: fmt.Sprintf("The permit expired and is held for an operator. Once you know that its job has stopped, free it with `gkctl clear %d`.", heldForOperator(d))}
	case d.Reason == client.ReasonNoFreePermit && !o.wait.set:
		return &ui.CodeError{Code: ui.ExitNotAcquired, Err: err, Hint: retryHint(d)}
	}
	return &ui.CodeError{Code: ui.ExitNotAcquired, Err: err, Hint: "`" + d.ExplainCommand() + "` shows how this was decided."}
}

// denialMessage converts a denial to an API message.
func denialMessage(d *client.DeniedError) *gatekeeperv1.TryAcquireResponse {
	out := &gatekeeperv1.Denial{
		Reason: gatekeeperv1.Reason(gatekeeperv1.Reason_value["REASON_"+string(d.Reason)]), Message: d.Message,
		Holders: d.Holders, HolderCount: uint32(d.HolderCount), QueueLength: uint32(d.QueueLength), //nolint:gosec // as received
		Firing: d.Firing, Pause: d.Pause, Stop: d.Stop, PermitRevision: d.PermitRevision,
	}
	if !d.LeaderClock.IsZero() {
		out.LeaderClock = timestamppb.New(d.LeaderClock)
	}
	if !d.CallerClock.IsZero() {
		out.CallerClock = timestamppb.New(d.CallerClock)
	}
	if d.Retry {
		out.RetryAfter = durationpb.New(d.RetryAfter)
	}
	return &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: out}}
}

// heldForOperator returns the token of a holder's permit that only an operator can clear, or 0 if there is none.
func heldForOperator(d *client.DeniedError) uint64 {
	if d.Reason == client.ReasonNoFreePermit || d.Reason == client.ReasonHeldForOperator {
		for _, p := range d.Holders {
			if p.GetState() == gatekeeperv1.PermitState_PERMIT_STATE_HELD {
				return p.GetToken()
			}
		}
	}
	return 0
}

func retryHint(d *client.DeniedError) string {
	if !d.Retry || d.RetryAfter <= 0 {
		return "Use --wait to wait in the queue."
	}
	return "Retry after " + words.Brief(d.RetryAfter) + ", or use --wait to wait in the queue."
}

// print prints the token and, to standard error, how to continue.
func (o *acquireOptions) print(p *client.Permit) error {
	if !o.output.Is(ui.Table) {
		return o.f.PrintObject(o.output, &gatekeeperv1.Permit{
			Semaphore: p.Semaphore(), Token: p.Token(), Weight: o.weight, Duration: durationpb.New(p.Duration()),
			Identity: &gatekeeperv1.Identity{Group: p.Group(), Acquirer: p.Acquirer(), HolderId: p.HolderID()},
		})
	}
	fmt.Fprintln(o.f.Out, p.Token())
	switch {
	case o.quiet:
	case o.hold > 0:
		o.f.Logf("holding %s for %s", p.Semaphore(), words.Brief(o.hold))
	default:
		o.f.Logf("acquired %s; it expires in %s unless refreshed: gkctl refresh %d, gkctl release %d", p.Semaphore(), words.Brief(time.Until(p.SafeUntil())), p.Token(), p.Token())
	}
	return nil
}

// keep holds the permit for the time given by --hold and then releases it.
func (o *acquireOptions) keep(ctx context.Context, p *client.Permit) error {
	timer := time.NewTimer(o.hold)
	defer timer.Stop()
	var stopped error
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-p.Context().Done():
		stopped = context.Cause(p.Context())
	}
	releaseCtx, cancel := o.f.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	err := p.Release(releaseCtx)
	switch {
	case errors.Is(stopped, client.ErrLost):
		return &ui.CodeError{Code: ui.ExitLost, Err: stopped}
	case stopped != nil:
		return &ui.CodeError{Code: ui.ExitLost, Err: errors.Join(stopped, err)}
	case err != nil:
		return err
	}
	if !o.quiet {
		o.f.Logf("released %s", p.Semaphore())
	}
	return ctx.Err()
}
