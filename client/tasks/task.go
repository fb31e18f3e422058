package tasks

import (
	"context"

	"github.com/go-co-op/gocron/v2"
)

// Task is a recurring task. A Manager calls its methods one at a time, except Cancel, which RemoveNow and Close can
// call during Run.
type Task interface {
	// Name returns the task's name, which is also the name of its firings and, by default, of its semaphore. It must be
	// the same on every host and must never change.
	Name() string
	// Schedule returns when the task is due. It is called once for each registration, after Initialize. gocron keeps
	// state in the definition of a cron job, so two tasks or Managers must not share one.
	Schedule() gocron.JobDefinition
	// Initialize is called once, by Register, before the task is first due. ctx ends when Register's ctx ends, and when
	// the task is removed during the call. If Initialize returns an error, the task is not registered and Cancel is not
	// called.
	Initialize(ctx context.Context) error
	// Run runs the task. client.PermitOf(ctx) returns its permit. ctx is cancelled when the permit must be given up,
	// and by RemoveNow and Close. Run should then return context.Cause(ctx), or nil if its work is done. An error or a
	// panic means that the run failed.
	Run(ctx context.Context) error
	// Cancel is called once, when the task is removed. If Run is in progress and does not watch its context, Cancel
	// must make it return promptly.
	Cancel()
}

// Restartable is a Task that can run again after a run that ended abnormally, on this host or another. Only a
// Restartable takes over from a holder that was declared dead.
type Restartable interface {
	Task
	// Reset cleans up after a run that ended abnormally and prepares the task for the next run. ctx is the context of
	// the Run that follows. If Reset returns an error, the task does not run, and the run counts as failed.
	Reset(ctx context.Context) error
}

// Func returns a Task that runs a function. Its Initialize and Cancel do nothing. Register it with only one Manager,
// because its schedule must not be shared.
func Func(name string, schedule gocron.JobDefinition, run func(context.Context) error) Task {
	return funcTask{name, schedule, run}
}

// RestartableFunc is like Func, but calls reset before a run if the last run ended abnormally.
func RestartableFunc(name string, schedule gocron.JobDefinition, run, reset func(context.Context) error) Restartable {
	return restartableFunc{funcTask{name, schedule, run}, reset}
}

type funcTask struct {
	name     string
	schedule gocron.JobDefinition
	run      func(context.Context) error
}

func (t funcTask) Name() string                   { return t.name }
func (t funcTask) Schedule() gocron.JobDefinition { return t.schedule }
func (funcTask) Initialize(context.Context) error { return nil }
func (t funcTask) Run(ctx context.Context) error  { return t.run(ctx) }
func (funcTask) Cancel()                          {}

type restartableFunc struct {
	funcTask
	reset func(context.Context) error
}

func (t restartableFunc) Reset(ctx context.Context) error { return t.reset(ctx) }
