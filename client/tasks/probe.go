package tasks

import (
	"context"
	"errors"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Probe checks whether the holder of a permit is still running its task. It must be safe for concurrent use and must
// return when ctx ends.
type Probe interface {
	// Alive reports whether the holder is running its task. An error means that the answer is unknown.
	Alive(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error)
}

// ProbeFunc adapts a function to a Probe.
type ProbeFunc func(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error)

// Alive calls f.
func (f ProbeFunc) Alive(ctx context.Context, holder *gatekeeperv1.Permit) (bool, error) {
	return f(ctx, holder)
}

// ServerProbe relies on the servers' records: a holder is considered alive while it refreshes its permit. A holder
// refreshes at least once every third of the duration, so if less than a third is left, it has missed more than one
// refresh. A newly elected leader restarts the full duration of each permit. ServerProbe detects a process that died,
// was suspended or was cut off. It does not detect a job that hangs in a healthy process. For that, see HTTPProbe,
// client.WithStallLimit and the definition's max_hold.
type ServerProbe struct{}

// Alive evaluates the holder's record. It returns an error if the record does not say when the permit expires. A record
// returned by the leader always does.
func (ServerProbe) Alive(_ context.Context, holder *gatekeeperv1.Permit) (bool, error) {
	if holder.GetExpiresIn() == nil {
		return false, errors.New("the holder's record does not say when its permit expires")
	}
	return holder.GetExpiresIn().AsDuration() >= holder.GetDuration().AsDuration()/3, nil
}
