package work

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// worked means that the task under Token returned Text, which has not been recorded yet.
	worked stage.Event = "worked"
	// recorded means that the servers have recorded the outcome of the task under Token.
	recorded stage.Event = "recorded"
	// unrecorded means that the servers have not recorded the outcome. Text is the reason.
	unrecorded stage.Event = "unrecorded"
)

// order is a task's payload. The task either counts the words in a file, or sleeps and returns the date, as in the
// article.
type order struct {
	File  string        `json:"file,omitempty"`
	Sleep time.Duration `json:"sleep,omitempty"`
}

// worker executes tasks until it receives SIGTERM, and then finishes its current tasks.
type worker struct {
	Name, Semaphore string
	Endpoints       []string
	Parallel        int
	Root            string
}

func (w *worker) run(ctx context.Context, account stage.Account) error {
	c, err := client.Dial(ctx, w.Endpoints, client.WithAcquirer(w.Name))
	if err != nil {
		return err
	}
	defer c.Close()
	err = work.Run(ctx, work.Worker{
		Semaphore: c.Semaphore(w.Semaphore), Parallel: w.Parallel, Grace: work.GraceUnlimited,
		Handle: func(ctx context.Context, t *work.Task) ([]byte, error) {
			about := stage.Record{Job: t.Job(), Step: t.Index()}
			watch := account.Hold(t.Permit(), stage.Granted, about)
			defer watch.Stop()
			result, err := w.execute(ctx, t.Payload())
			if err == nil {
				about.Event, about.Token, about.Text = worked, t.Token(), result
				account.Write(about)
			}
			return []byte(result), err
		},
		Ended: func(_ context.Context, r work.Report) {
			end := stage.Record{Event: recorded, Job: r.Task.Job(), Step: r.Task.Index(), Token: r.Task.Token()}
			switch {
			case r.Unrecorded != nil:
				end.Event, end.Text = unrecorded, r.Unrecorded.Error()
			case r.Outcome == gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
				end.Event, end.Text = unrecorded, r.Err.Error()
			}
			account.Write(end)
		},
	})
	if ctx.Err() != nil {
		return nil // SIGTERM is the normal way to stop a worker
	}
	return err
}

func (w *worker) execute(ctx context.Context, payload []byte) (string, error) {
	var o order
	if err := json.Unmarshal(payload, &o); err != nil {
		return "", err
	}
	if o.File != "" {
		n, err := countWords(filepath.Join(w.Root, o.File))
		return strconv.Itoa(n), err
	}
	select {
	case <-time.After(o.Sleep):
		return time.Now().Format(time.UnixDate), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// countWords returns a file's word count.
func countWords(file string) (int, error) {
	text, err := os.ReadFile(file)
	return len(bytes.Fields(text)), err
}
