// Command wordcount counts the words in files, using all hosts that run its workers. docs/work.md explains it.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
)

func main() {
	id := flag.String("job", "", "ID of the job; the same ID with the same files identifies the same job")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := client.Dial(ctx, nil) // GK_ENDPOINTS
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if flag.NArg() == 0 {
		err = work.Run(ctx, work.Worker{Semaphore: c.Semaphore("count-words"), Parallel: 4, Handle: count})
	} else {
		err = submit(ctx, c, *id, flag.Args())
	}
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// count counts the words in a payload. It runs on the workers.
func count(_ context.Context, t *work.Task) ([]byte, error) {
	return []byte(strconv.Itoa(len(bytes.Fields(t.Payload())))), nil
}

// submit submits a job with one task for each file.
func submit(ctx context.Context, c *client.Client, id string, files []string) error {
	texts := make([][]byte, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		texts[i] = text
	}
	job, err := work.Submit(ctx, c, work.Job{ID: id, Semaphore: "count-words"}, texts)
	if err != nil {
		return err
	}
	for task, err := range work.Results(ctx, c, job.ID) { // in the same order as the files
		if err != nil {
			return err
		}
		words, err := work.Result(job.ID, task)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s\n", words, files[task.GetIndex()])
	}
	return nil
}
