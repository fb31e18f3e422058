package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// The list shows how often a task was returned, the reason, and the last worker, even after the task has ended.
func TestTaskList_ReturnedAndEndedTasks_ShowsWorkersAndReasons(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize", Duration: durationpb.New(10 * time.Second)})
		ops, ctx := srv.Dial(t, "ops"), t.Context()
		must(work.Submit(ctx, ops, work.Job{ID: "j", Semaphore: "resize"}, [][]byte{nil, nil}))(t)
		workerCtx, stop := context.WithCancel(ctx)
		ended, third, paused, returns := make(chan error, 1), make(chan struct{}), make(chan struct{}), 0
		go func() {
			ended <- work.Run(workerCtx, work.Worker{
				Semaphore: srv.Dial(t, "w").Semaphore("resize"), Logger: slog.New(slog.DiscardHandler), Grace: work.GraceUnlimited,
				Handle: func(_ context.Context, task *work.Task) ([]byte, error) {
					if task.Index() == 0 {
						return nil, nil
					}
					if returns++; returns == 3 {
						close(third)
						<-paused
					}
					return nil, fmt.Errorf("%w: no room in /tmp", client.ErrCutShort)
				},
			})
		}()
		<-third
		srv.Pause(t, "resize", "prevents a fourth attempt")
		close(paused)
		synctest.Wait()
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		tasks := must(readTasks(ctx, ops, &gatekeeperv1.ListTasksRequest{Job: "j"}))(t)
		var got []string
		for _, row := range taskListing(tasks).Rows {
			got = append(got, strings.Join(append(row.Cells[:5], append(row.Cells[6:], row.More[2])...), " | "))
		}
		want := []string{
			"0 | done | 1 | 0 | w |  | released 0s ago",
			"1 | waiting | 0 | 3 | w | the job was cut short: no room in /tmp | released 0s ago",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("gkctl task list shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		must(ops.Work().CancelJob(ctx, &gatekeeperv1.CancelJobRequest{Id: "j", Author: "ann", Reason: "wrong bucket"}))(t)
		for task, err := range work.Results(ctx, ops, "j") {
			if err != nil {
				t.Fatal(err)
			}
			_, err = work.Result("j", task)
			want := "task 1 of job j: the task was cancelled by ann: wrong bucket"
			if task.GetIndex() == 1 && (err == nil || err.Error() != want || !errors.Is(err, work.ErrCancelled)) {
				t.Errorf("work.Result() returned %v, want %s", err, want)
			}
		}
	})
}

func TestJobList_CountsAddUpToNumberOfTasks(t *testing.T) {
	t.Parallel()
	l := listing([]*gatekeeperv1.Job{{Tasks: 63, Waiting: 1, Held: 2, Done: 4, Failed: 8, Dropped: 16, Cancelled: 32}}, nil)
	if got := strings.Join(l.Headers[3:10], " ") + ": " + strings.Join(l.Rows[0].Cells[3:10], " "); got != "TASKS WAITING HELD DONE FAILED DROPPED CANCELLED: 63 1 2 4 8 16 32" {
		t.Errorf("listing() = %s, want 63 tasks and their counts by state", got)
	}
}
