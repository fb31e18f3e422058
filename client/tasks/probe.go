package tasks

import (
	"context"
	"errors"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Probe finds out whether the holder of a permit still runs its task. It may be called from several goroutines, and
// must return when ctx ends.
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

// ServerProbe is the view of the servers: a holder is alive while it refreshes its permit. It refreshes at least after
// each third of the duration, so one that has less than a third left has missed more than one refresh. A leader that
// has just been elected gives each permit its full duration again. This Probe sees a process that died, was suspended
// or was cut off. It does not see a job that hangs in a process that is well; see HTTPProbe, client.WithStallLimit and
// the definition's max_hold.
type ServerProbe struct{}

// Alive reads the holder's record. It is an error if that does not say how long the permit lives: a leader's answer
// does.
func (ServerProbe) Alive(_ context.Context, holder *gatekeeperv1.Permit) (bool, error) {
	if holder.GetExpiresIn() == nil {
		return false, errors.New("the record of the holder does not say how long its permit lives")
	}
	return holder.GetExpiresIn().AsDuration() >= holder.GetDuration().AsDuration()/3, nil
}
