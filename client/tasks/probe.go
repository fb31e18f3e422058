package tasks

import (
	"context"
	"errors"

	"github.com/gatekeeperd/gatekeeper/client"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Probe finds out whether the holder of a permit still runs its task. It may be called from several goroutines, and must return when ctx ends.
type Probe interface {
	// Alive says whether the holder runs its task. An error means that it is not known.
	Alive(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error)
}

// ProbeFunc is a Probe that is a function.
type ProbeFunc func(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error)

// Alive calls the function.
func (f ProbeFunc) Alive(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error) {
	return f(ctx, holder)
}

// ServerProbe returns the view of the servers: a holder is alive while it refreshes its permit. It refreshes at least after each third of the
// duration, so one that has less than a third left has missed more than one refresh. A leader that has just been elected gives each
// permit its full duration again. This Probe sees a process that died, was suspended or was cut off. It does not see a job that hangs in a process that
// is well; see HTTPProbe, client.WithStallLimit and the definition's max_hold.
func ServerProbe(c *client.Client) Probe {
	return ProbeFunc(func(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error) {
		v, err := c.Verify(ctx, holder.GetSemaphore(), holder.GetToken())
		if _, ended := errors.AsType[*client.NotValidError](err); ended {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		left := v.Permit.GetExpiresIn()
		if left == nil {
			return false, errors.New("the servers do not say how long the permit lives")
		}
		return left.AsDuration() >= v.Permit.GetDuration().AsDuration()/3, nil
	})
}
