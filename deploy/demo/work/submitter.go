package work

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
)

const (
	// submitted means that the servers have stored the job.
	submitted stage.Event = "submitted"
	// returned means that the submitter got Text, the task's result, which was recorded under Token.
	returned stage.Event = "returned"
	// failed means that the submitter got the error Text instead of a result.
	failed stage.Event = "failed"
	// seen means that the submitter has seen all changes to the job up to Revision.
	seen stage.Event = "seen"
)

// submitter submits one job after another and records the results. It waits for each job to end before it submits the
// next one.
type submitter struct {
	Name, Semaphore string
	Endpoints       []string
	// Sleeps has one entry for each job with a single task: the time for which the task sleeps.
	Sleeps []time.Duration
	// Files is the number of files under Root that another job processes, with one task per file. If it is 0, that job
	// is not submitted.
	Files int
	Root  string
	// After is the last revision of the files' job that a previous submitter process has already seen.
	After uint64
}

// sleepJob returns the id of the job for Sleeps[i].
func sleepJob(i int) string { return fmt.Sprintf("task-%d", i+1) }

// wordsJob is the id of the files' job.
const wordsJob = "words"

func (s *submitter) run(ctx context.Context, account stage.Account) error {
	c, err := client.Dial(ctx, s.Endpoints, client.WithAcquirer(s.Name))
	if err != nil {
		return err
	}
	defer c.Close()
	for i, d := range s.Sleeps {
		if err := s.do(ctx, c, account, sleepJob(i), []order{{Sleep: d}}); err != nil {
			return err
		}
	}
	if s.Files == 0 {
		return nil
	}
	files, err := filesOf(s.Root, s.Files)
	if err != nil {
		return err
	}
	var orders []order
	for _, file := range files {
		orders = append(orders, order{File: file})
	}
	return s.do(ctx, c, account, wordsJob, orders)
}

// do submits a job and follows it to completion. Submitting it again has no effect.
func (s *submitter) do(ctx context.Context, c *client.Client, account stage.Account, id string, orders []order) error {
	var payloads [][]byte
	for _, o := range orders {
		payload, err := json.Marshal(o)
		if err != nil {
			return err
		}
		payloads = append(payloads, payload)
	}
	stored, err := work.Submit(ctx, c, work.Job{ID: id, Semaphore: s.Semaphore, MaxAttempts: 10}, payloads)
	if err != nil {
		return err
	}
	what := "new"
	if stored.Repeated {
		what = "repeated"
	}
	account.Write(stage.Record{Event: submitted, Job: id, Text: what})
	for change, err := range work.Follow(ctx, c, id, s.After) {
		if err != nil {
			return err
		}
		for _, t := range change.Returned() {
			r := stage.Record{Event: returned, Job: id, Step: int(t.GetIndex()), Token: t.GetToken()}
			result, err := work.Result(id, t)
			if r.Text = string(result); err != nil {
				r.Event, r.Text = failed, err.Error()
			}
			account.Write(r)
		}
		account.Write(stage.Record{Event: seen, Job: id, Revision: change.Revision})
	}
	return nil
}

// filesOf returns the first n files under root in lexical order, or all if there are fewer.
func filesOf(root string, n int) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.Type().IsRegular():
			return err
		case len(files) == n:
			return fs.SkipAll
		}
		relative, err := filepath.Rel(root, path)
		files = append(files, relative)
		return err
	})
	return files, err
}
