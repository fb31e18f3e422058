// Command demo shows Gatekeeper at work and under faults. Its first argument selects the scenario:
//
//   - demo (the default): hosts compete for due runs.
//   - jobs: applications run gocron jobs.
//   - move: all tasks move to another zone and back.
//   - jgroups: workers share tasks, as in the JGroups article.
//   - oddjob: workers share work, as in the Oddjob article.
//   - words: workers share ten thousand tasks.
//
// In each scenario, the servers and the holders are separate processes, and some of them are killed or suspended.
//
// A scenario ends with a report based on the holders' records of their beliefs. If a guarantee was violated, the exit
// code is 1.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/hosts"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/jobs"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/move"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/work"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/program"
)

func main() { program.Main("demo", run) }

// run runs a scenario. If the first argument is the name of a part, it runs only that part.
func run(ctx context.Context, args []string, _ io.Writer) error {
	name := "demo"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name = args[0]
	}
	switch name {
	case hosts.Part:
		return hosts.Host(ctx, args)
	case jobs.Part:
		return jobs.App(ctx, args)
	case move.Part:
		return move.Zone(ctx, args)
	case work.Part:
		return work.Process(ctx, args)
	}
	var scenario interface {
		Flags(*flag.FlagSet)
		Play(context.Context) error
	}
	switch name {
	case "demo":
		scenario = &hosts.Scenario{}
	case "jobs":
		scenario = &jobs.Scenario{}
	case "move":
		scenario = &move.Scenario{}
	case "jgroups":
		scenario = &work.JGroups{}
	case "oddjob":
		scenario = &work.Oddjob{}
	case "words":
		scenario = &work.Words{}
	default:
		return fmt.Errorf("unknown scenario %q: choose demo, jobs, move, jgroups, oddjob or words", name)
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	scenario.Flags(flags)
	if len(args) > 0 && args[0] == name {
		args = args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	return scenario.Play(ctx)
}
