// Command peer is the server from the JGroups article: each node submits tasks and executes tasks from all nodes. It
// reads commands from standard input. docs/articles/jgroups.md starts three peers and kills one partway through a
// task.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/work"
)

// semaphore is the name of the semaphore that the peers work for.
const semaphore = "peers"

// peer is one node.
type peer struct {
	client *client.Client
	long   time.Duration
}

func main() {
	name := flag.String("name", "", "name of this node")
	long := flag.Duration("long", 15*time.Second, "how long a long-running task takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := client.Dial(ctx, nil, client.WithAcquirer(*name))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer c.Close()
	p := &peer{c, *long}
	ctx, leave := context.WithCancel(ctx)
	var working sync.WaitGroup
	working.Go(func() {
		_ = work.Run(ctx, work.Worker{Semaphore: c.Semaphore(semaphore), Handle: p.handle, Grace: work.GraceUnlimited})
	})
	p.join(ctx)
	p.loop(ctx)
	leave()
	working.Wait()
}

// join waits until this node appears in the list of workers, and then prints the list.
func (p *peer) join(ctx context.Context) {
	self := p.client.Semaphore(semaphore).Acquirer()
	for ctx.Err() == nil {
		workers, err := work.Workers(ctx, p.client, semaphore)
		view, joined := []string{}, false
		for _, w := range workers {
			view = append(view, w.GetIdentity().GetAcquirer())
			joined = joined || w.GetIdentity().GetAcquirer() == self
		}
		if err == nil && joined {
			fmt.Println("view:", view)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// loop executes commands from standard input until it reads q.
func (p *peer) loop(ctx context.Context) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() && ctx.Err() == nil {
		switch in.Text() {
		case "1":
			go p.submit(ctx, "short")
		case "2":
			go p.submit(ctx, "long")
		case "3":
			p.join(ctx)
		case "q":
			return
		}
	}
}

// submit submits a task. This is the master's part.
func (p *peer) submit(ctx context.Context, task string) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	fmt.Println("==> submitting")
	job := work.Job{Semaphore: semaphore, OnSubmitterLoss: work.SubmitterCancel}
	result, err := work.SubmitAndWait(ctx, p.client, job, []byte(task))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("<== result =", string(result))
}

// handle executes a task. This is the slave's part.
func (p *peer) handle(ctx context.Context, t *work.Task) ([]byte, error) {
	if t.Attempt() > 1 {
		fmt.Println("**** taking over the task")
	}
	fmt.Println("executing", string(t.Payload()))
	if string(t.Payload()) == "long" {
		select {
		case <-time.After(p.long):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return []byte(time.Now().Format(time.UnixDate)), nil
}
