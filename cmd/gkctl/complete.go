package main

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Defaults of absent fields, which are part of the API; a test holds them against the servers' own.
const (
	defaultPattern         = ".*"
	defaultPermits         = 1
	defaultDuration        = time.Minute
	defaultFiringRetention = 24 * time.Hour
	defaultFiringLimit     = 1000
	defaultFiringMaxAhead  = 10 * time.Minute
)

// complete is a definition as the servers store it and give it back: every default is filled in, and durations that say nothing
// are absent. Two definitions that complete to equal ones are the same rule.
func complete(d *gatekeeperv1.Definition) *gatekeeperv1.Definition {
	d = proto.CloneOf(d)
	orDefault(&d.GroupPattern, defaultPattern)
	orDefault(&d.AcquirerPattern, defaultPattern)
	orDefault(&d.Permits, defaultPermits)
	orDefault(&d.FiringLimit, defaultFiringLimit)
	if d.Duration == nil {
		d.Duration = durationpb.New(defaultDuration)
	}
	if d.FiringRetention == nil {
		d.FiringRetention = durationpb.New(defaultFiringRetention)
	}
	if d.FiringMaxAhead == nil { // 0 is no default: it means that there is no bound
		d.FiringMaxAhead = durationpb.New(defaultFiringMaxAhead)
	}
	for _, p := range []**durationpb.Duration{&d.MaxHold, &d.MinHold, &d.LossDelay, &d.ExpectEvery} {
		if (*p).AsDuration() == 0 {
			*p = nil
		}
	}
	if d.OnExpiry == gatekeeperv1.OnExpiry_ON_EXPIRY_UNSPECIFIED {
		d.OnExpiry = gatekeeperv1.OnExpiry_ON_EXPIRY_FREE
	}
	if d.FiringOnLoss == gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_UNSPECIFIED {
		d.FiringOnLoss = gatekeeperv1.FiringOnLoss_FIRING_ON_LOSS_SPENT
	}
	return d
}

func orDefault[T any](field **T, otherwise T) {
	if *field == nil {
		*field = &otherwise
	}
}

func sameRule(a, b *gatekeeperv1.Definition) bool { return proto.Equal(complete(a), complete(b)) }
