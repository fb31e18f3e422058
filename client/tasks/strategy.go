package tasks

import (
	"context"
	"strconv"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Verdict is what a Strategy makes of a holder. The zero value is Alive.
type Verdict int

const (
	// Alive: the holder runs the task. Nothing runs here this time.
	Alive Verdict = iota
	// Dead: the holder does not run the task any more. A Restartable takes over from it.
	Dead
	// Retry: it cannot be said yet. The Manager asks for the permit again and, if it is denied, probes and judges
	// again; see WithRetries.
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

// Evidence is what a Strategy knows.
type Evidence struct {
	// Holder is the record of the permit that keeps the task from running here, as the leader had it a moment ago: who
	// holds it, since when, and in ExpiresIn how long without another refresh.
	Holder *gatekeeperv1.Permit
	// Task is the task that was denied.
	Task Info
	// Answer is what the Probe said; it counts only if Err is nil.
	Answer bool
	// Err is why the Probe has no answer.
	Err error
	// Attempt counts how often the permit was asked for and denied, from 1.
	Attempt int
}

// Strategy judges the holder of a denied task. It may be called from several goroutines, for different tasks.
type Strategy interface {
	Judge(ctx context.Context, e Evidence) Verdict
}

// StrategyFunc is a Strategy that is a function.
type StrategyFunc func(context.Context, Evidence) Verdict

// Judge calls the function.
func (f StrategyFunc) Judge(ctx context.Context, e Evidence) Verdict { return f(ctx, e) }

// ByAnswer believes the Probe: Alive if it says so, Dead if it says not, and Retry if it has no answer.
func ByAnswer(_ context.Context, e Evidence) Verdict {
	switch {
	case e.Err != nil:
		return Retry
	case e.Answer:
		return Alive
	}
	return Dead
}
