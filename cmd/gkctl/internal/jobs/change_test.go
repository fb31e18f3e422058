package jobs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The user confirmed only the jobs and tasks shown, so later ones must be left unchanged.
func TestCarryOut_ChangedAfterConfirmation_IsLeftUnchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize", Duration: durationpb.New(10 * time.Second)})
		c, ctx := srv.Dial(t, "ops"), t.Context()
		out := new(bytes.Buffer)
		f := &conn.Factory{IO: &ui.IO{Out: out, Err: out}}
		f.Global.Timeout = time.Minute
		output := ui.Output{Formats: []string{ui.Table}}

		shown := must(work.Submit(ctx, c, work.Job{ID: "j", Semaphore: "resize"}, [][]byte{nil}))(t).Job
		workerCtx, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() {
			ended <- work.Run(workerCtx, work.Worker{
				Semaphore: srv.Dial(t, "w").Semaphore("resize"), Logger: slog.New(slog.DiscardHandler),
				Handle: func(context.Context, *work.Task) ([]byte, error) { return nil, errors.New("no such file") },
			})
		}()
		after := must(work.Wait(ctx, c, "j"))(t)
		stop()
		<-ended
		change := func(j *gatekeeperv1.Job, do jobAction, want string) {
			t.Helper()
			out.Reset()
			if err := carryOut(ctx, f, c, output, []*gatekeeperv1.Job{j}, do); err != nil || strings.TrimSpace(out.String()) != want {
				t.Errorf("carryOut() printed %q, %v; want %q", out, err, want)
			}
		}
		for _, drop := range []bool{false, true} {
			want := map[bool]string{false: "j: 0 failed tasks will be retried", true: "j: 0 failed tasks dropped"}[drop]
			change(shown, changeTasks(drop, nil), want)
		}
		change(after, changeTasks(true, nil), "j: 1 failed task dropped")

		change(after, deleteJob, "j deleted")
		must(work.Submit(ctx, c, work.Job{ID: "j", Semaphore: "resize"}, [][]byte{nil}))(t)
		must(work.Cancel(ctx, c, "j", ""))(t)
		change(after, deleteJob, "j deleted")
		if j := must(work.Get(ctx, c, "j"))(t); !j.GetOver() {
			t.Errorf("job submitted after the deletion = %v, want it kept and cancelled", j)
		}
	})
}

// Scripts rely on these fields. New ones may be added, but existing ones must not change. docs/gkctl-reference.md lists
// them.
func TestJobsJSON_IsStable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got  any
		want string
	}{
		{jobResult{ID: "j", Action: "deleted", text: " deleted"}, `{"id":"j","action":"deleted"}`},
		{jobResult{ID: "j", Action: "dropped", Tasks: 2, Job: ui.Message{Message: &gatekeeperv1.Job{Tasks: 3}}}, `{"id":"j","action":"dropped","tasks":2,"job":{"tasks":3}}`},
		{jobResult{ID: "j", Error: "gone"}, `{"id":"j","error":"gone"}`},
	} {
		if got, err := ui.ToJSON(c.got); err != nil || string(got) != c.want {
			t.Errorf("ToJSON() = %s, %v\nwant %s", got, err, c.want)
		}
	}
}
