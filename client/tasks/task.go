package tasks

import (
	"context"

	"github.com/go-co-op/gocron/v2"
)

// Task is a recurring task. A Manager calls its methods one after the other. Only Cancel may be called while Run runs,
// by RemoveNow and Close.
type Task interface {
	// Name names the task, its firings, and by default its semaphore. It is the same on every host, and always the
	// same.
	Name() string
	// Schedule says when the task is due. It is read once for each registration, after Initialize. gocron keeps state
	// in a definition of a cron job, so two tasks or Managers must not share one.
	Schedule() gocron.JobDefinition
	// Initialize is called once, by Register, before the task is due for the first time. ctx ends with that of
	// Register, and when the task is removed meanwhile. If it returns an error the task is not registered, and Cancel
	// is not called.
	Initialize(ctx context.Context) error
	// Run runs the task. client.PermitOf(ctx) is its permit. ctx ends when the permit must be given up, and when the
	// task is removed at once; Run should then return context.Cause(ctx), or nil if its work is done. An error says
	// that the run failed. A panic counts as an error.
	Run(ctx context.Context) error
	// Cancel is called once, when the task is removed. During a run, it must make Run return soon, if the end of Run's
	// context does not.
	Cancel()
}

// Restartable is a Task that may run again after a run that ended abnormally, on this host or on another one. Only such
// a task takes over from a holder that is judged dead.
type Restartable interface {
	Task
	// Reset cleans up after a run that ended abnormally, and makes the task ready to run. ctx is that of the Run that
	// follows. If Reset returns an error, the task does not run, and that run has failed.
	Reset(ctx context.Context) error
}

// Func returns a Task that runs a function. Its Initialize and Cancel do nothing. Register it with one Manager: its
// schedule must not be shared.
func Func(name string, schedule gocron.JobDefinition, run func(context.Context) error) Task {
	return funcTask{name, schedule, run}
}

// RestartableFunc is Func for a task that reset cleans up before a run that follows an abnormal end.
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
