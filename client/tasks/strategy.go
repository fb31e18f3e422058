package tasks

import (
	"context"
	"strconv"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Verdict is a Strategy's judgement of a holder. The zero value is Alive.
type Verdict int

const (
	// Alive means that the holder is running the task. The task does not run here this time.
	Alive Verdict = iota
	// Dead means that the holder is no longer running the task. A Restartable takes over from it.
	Dead
	// Retry means that the answer is not known yet. The Manager tries to acquire the permit again and, if denied,
	// probes and judges again; see WithRetries.
	Retry
)

func (v Verdict) String() string {
	switch v {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	case Retry:
		return "retry"
	}
	return "Verdict(" + strconv.Itoa(int(v)) + ")"
}

// Evidence is the input to a Strategy.
type Evidence struct {
	// Holder is the record of the permit that keeps the task from running here, as just returned by the leader. It
	// identifies the holder and contains the time of the grant and, in ExpiresIn, how long the permit lasts without
	// another refresh.
	Holder *gatekeeperv1.Permit
	// Task is the task that was denied.
	Task Info
	// Answer is the Probe's answer. It is only valid if Err is nil.
	Answer bool
	// Err is the Probe's error if it returned no answer.
	Err error
	// Attempt counts the denied attempts to acquire the permit, starting at 1.
	Attempt int
}

// Strategy judges the holder when a task is denied. It may be called concurrently for different tasks.
type Strategy interface {
	Judge(ctx context.Context, e Evidence) Verdict
}

// StrategyFunc adapts a function to a Strategy.
type StrategyFunc func(context.Context, Evidence) Verdict

// Judge calls f.
func (f StrategyFunc) Judge(ctx context.Context, e Evidence) Verdict { return f(ctx, e) }

// ByAnswer follows the Probe. It returns Alive or Dead according to the answer, and Retry if there is no answer.
func ByAnswer(_ context.Context, e Evidence) Verdict {
	switch {
	case e.Err != nil:
		return Retry
	case e.Answer:
		return Alive
	}
	return Dead
}
