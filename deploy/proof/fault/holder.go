package fault

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/child"
	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// Worker is the Kind of holders that execute tasks.
const Worker = "worker"

// Holder is a client in a separate process, together with its successors. When it is killed, another process takes its
// place.
type Holder struct {
	// Kind is holder, worker or submitter.
	Kind string
	// Start starts the next process, given its number.
	Start func(n int) (*child.Process[history.Entry], error)

	processes []*child.Process[history.Entry]
}

// StartNext starts the next process.
func (h *Holder) StartNext() error {
	p, err := h.Start(len(h.processes))
	if err == nil {
		h.processes = append(h.processes, p)
	}
	return err
}

// Stop stops the current process and returns the records of all of the holder's processes.
func (h *Holder) Stop() ([]history.Entry, error) {
	var entries []history.Entry
	for i, p := range h.processes {
		if i == len(h.processes)-1 {
			h.resume()
			_ = p.Signal(syscall.SIGTERM)
			if err := p.Wait(10 * time.Second); err != nil {
				return nil, err
			}
		}
		entries = append(entries, p.Records()...)
		if at := p.Killed(); at > 0 {
			entries = append(entries, history.Entry{Death: &history.Death{Client: p.Name, At: at}})
		}
	}
	return entries, nil
}

func (h *Holder) last() *child.Process[history.Entry] { return h.processes[len(h.processes)-1] }

// atTask reports whether the worker has been handed a task whose outcome it has not reported yet.
func (h *Holder) atTask() bool {
	inProgress := map[uint64]bool{}
	for _, e := range h.last().Records() {
		switch {
		case e.HandedTask != nil:
			inProgress[e.HandedTask.Token] = true
		case e.Call != nil && e.Call.Request.Kind == history.EndTask:
			delete(inProgress, e.Call.Request.Token)
		}
	}
	return len(inProgress) > 0
}

func (h *Holder) resume() { _ = h.last().Signal(syscall.SIGCONT) }

// pickHolder returns a random holder. Call the returned function when the fault has ended, because faults that act on
// holders must not overlap.
func (a *Arena) pickHolder(random *rand.Rand) (*Holder, func()) {
	h := a.Holders[random.IntN(len(a.Holders))]
	a.holderMu.Lock()
	return h, a.holderMu.Unlock
}

func clientKilled(ctx context.Context, a *Arena, random *rand.Rand) error {
	h, done := a.pickHolder(random)
	defer done()
	a.Note("client-killed", h.last().Name)
	_, err := h.kill(ctx, random)
	return err
}

// kill kills the process and starts its successor. If the process is a worker, kill first waits up to a second for it
// to get a task. It reports whether the killed worker had a task.
func (h *Holder) kill(ctx context.Context, random *rand.Rand) (atTask bool, err error) {
	waitCtx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for h.Kind == Worker && !h.atTask() && waitCtx.Err() == nil {
		sleep(waitCtx, 5*time.Millisecond)
	}
	h.last().Kill()
	atTask = h.atTask() // the process is dead, so its records are complete
	sleep(ctx, between(random, 0, time.Second))
	return atTask, h.StartNext()
}

// clientStopped suspends a client for a shorter or longer time than its permits last.
func clientStopped(ctx context.Context, a *Arena, random *rand.Rand) error {
	h, done := a.pickHolder(random)
	defer done()
	a.Note("client-stopped", h.last().Name)
	return h.suspend(ctx, random)
}

// suspend suspends the process temporarily.
func (h *Holder) suspend(ctx context.Context, random *rand.Rand) error {
	if err := h.last().Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	sleep(ctx, between(random, 100*time.Millisecond, 5*time.Second))
	h.resume()
	return nil
}

// KilledAtTask is the name of the count of workers killed while they had a task.
const KilledAtTask = "worker-killed-at-task"

// Disrupt kills and suspends the processes that execute and submit tasks, until the context is done. It returns the
// number of faults by name.
func (a *Arena) Disrupt(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{KilledAtTask: 0}
	var mu sync.Mutex // guards counts and failed
	var failed error
	var all sync.WaitGroup
	for lane, group := range [][]*Holder{a.Workers, a.Submitters} {
		random := rand.New(rand.NewPCG(a.Seed, uint64(200+lane)))
		all.Go(func() {
			for failing := false; !failing; {
				sleep(ctx, between(random, 100*time.Millisecond, 1500*time.Millisecond))
				if ctx.Err() != nil {
					return
				}
				h := group[random.IntN(len(group))]
				what, kills := h.Kind+"-stopped", random.IntN(3) > 0
				if kills {
					what = h.Kind + "-killed"
				}
				a.Note(what, h.last().Name)
				var err error
				var atTask bool
				if kills {
					atTask, err = h.kill(ctx, random)
				} else {
					err = h.suspend(ctx, random)
				}
				mu.Lock()
				counts[what]++
				if atTask {
					counts[KilledAtTask]++
				}
				failed = errors.Join(failed, err)
				failing = failed != nil
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counts, failed
}

// LoseWorker kills workers until it has killed one that had a task.
func (a *Arena) LoseWorker(ctx context.Context) error {
	random := rand.New(rand.NewPCG(a.Seed, 202))
	for ctx.Err() == nil {
		h := a.Workers[random.IntN(len(a.Workers))]
		a.Note(Worker+"-killed", h.last().Name)
		if atTask, err := h.kill(ctx, random); err != nil || atTask {
			return err
		}
	}
	return fmt.Errorf("no worker was handed a task: %w", ctx.Err())
}

// storm adds several clients that make requests as fast as they can, and watchers that do not read.
func storm(ctx context.Context, a *Arena, random *rand.Rand) error {
	stormCtx, cancel := context.WithTimeout(ctx, between(random, 200*time.Millisecond, time.Second))
	defer cancel()
	a.Note("storm", "")
	a.Clients.Watch(ctx, 4)
	a.Clients.Storm(stormCtx, 8)
	<-stormCtx.Done()
	return nil
}

// strangers connects to every port, sends nothing, an incomplete message or garbage, and keeps the connections open.
func strangers(ctx context.Context, a *Arena, random *rand.Rand) error {
	a.Note("strangers", "")
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	a.mu.Lock()
	all := a.Members()
	a.mu.Unlock()
	prefixes := []string{"", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "PRI * HT", "gkpeer\x00\x01\x00", "GET / HTTP/1.1\r\nHost: x\r\n", "\x16\x03\x01\x02\x00\x01\x00"}
	for _, s := range all {
		for _, address := range []string{s.API, s.Peer, s.Admin} {
			for range 5 {
				c, err := net.DialTimeout("tcp", address, time.Second)
				if err != nil {
					continue // another fault has stopped the server
				}
				conns = append(conns, c)
				w := bufio.NewWriter(c)
				fmt.Fprint(w, prefixes[random.IntN(len(prefixes))])
				for range random.IntN(200) {
					_ = w.WriteByte(byte(random.IntN(256)))
				}
				_ = w.Flush() // the server may have closed the connection already
			}
		}
	}
	sleep(ctx, between(random, 500*time.Millisecond, 3*time.Second))
	return nil
}
