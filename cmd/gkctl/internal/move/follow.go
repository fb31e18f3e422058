package move

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/lookup"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// lingerTime is how long a move waits for waiters to get a permit after the last old holder has stopped.
const lingerTime = 2 * time.Second

// update is a response from a watch, with its arrival time.
type update struct {
	response *gatekeeperv1.WatchResponse
	err      error
	at       time.Time
}

// watch sends the responses to a watch of tasks, starting at a revision, to the returned channel. It closes the channel
// when the watch ends.
func (o *moveOptions) watch(ctx context.Context, c *client.Client, names []string, from uint64) <-chan update {
	req := &gatekeeperv1.WatchRequest{FromRevision: from, Permits: true}
	if len(names) <= lookup.MaxNames {
		req.Names = names
	}
	events := make(chan update, 1024)
	go func() {
		defer close(events)
		for r, err := range c.Watch(ctx, req) {
			select {
			case events <- update{response: r, err: err, at: time.Now()}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events
}

// follow shows old holders stopping and new holders being granted permits, until the last old holder has stopped. An
// error does not mean that the move was reverted.
func (o *moveOptions) follow(ctx context.Context, c *client.Client, h *handovers, events <-chan update) error {
	var timeout <-chan time.Time
	if o.f.Global.Changed("timeout") {
		timer := time.NewTimer(o.f.Global.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	b := &board{out: o.f.Err, live: o.f.ErrTTY}
	b.printLine(h, fmt.Sprintf("change %d: %s must stop", h.change, words.Plural(h.left, "holder", "holders")))
	defer b.clear()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for !h.done() {
		select {
		case t, ok := <-events:
			if !ok {
				return ctx.Err()
			}
			if err := o.handleUpdate(ctx, c, h, t, b); err != nil {
				return err
			}
		case <-tick.C:
			b.show(h)
		case <-timeout:
			return ui.WithHint(fmt.Errorf("%s after %s: %s", words.Plural(h.left, "old holder has not stopped", "old holders have not stopped"), o.f.Global.Timeout,
				words.SomeNames(h.remaining())),
				"The move was made; the permits will end no later than their deadlines. `gkctl holders` shows them.")
		case <-ctx.Done():
			b.clear()
			o.f.Logf("The move was made, and the handover continues. Undo it with: gkctl undo %d", h.change)
			return ctx.Err()
		}
	}
	return o.linger(ctx, c, h, events, b)
}

// handleUpdate processes a response from the watch.
func (o *moveOptions) handleUpdate(ctx context.Context, c *client.Client, h *handovers, t update, b *board) error {
	if t.err != nil {
		return ui.WithHint(t.err, "The move was made (change %d), but its progress can no longer be followed.", h.change)
	}
	for _, e := range t.response.GetEvents() {
		if line := h.event(e, t.at); line != "" {
			b.printLine(h, line)
		}
	}
	h.seen = max(h.seen, t.response.GetRevision())
	if !t.response.GetMissed() {
		return nil
	}
	listCtx, cancel := o.f.Bounded(ctx)
	defer cancel()
	var holders []*gatekeeperv1.Permit
	for p, err := range c.AllHolders(listCtx, &gatekeeperv1.ListHoldersRequest{}) {
		if err != nil {
			return ui.WithHint(err, "The move was made (change %d), but its progress can no longer be followed.", h.change)
		}
		holders = append(holders, p)
	}
	h.resync(holders, t.response.GetRevision(), time.Now())
	b.printLine(h, "events were missed: it is unknown how some holders stopped")
	return nil
}

// linger gives callers waiting for the freed slots a moment to be granted permits, so that the report can list them.
func (o *moveOptions) linger(ctx context.Context, c *client.Client, h *handovers, events <-chan update, b *board) error {
	listCtx, cancel := o.f.Bounded(ctx)
	defer cancel()
	pending := make(map[*handover]bool)
	for w, err := range c.AllWaiters(listCtx, &gatekeeperv1.ListWaitersRequest{Group: o.to}) {
		if err != nil {
			return nil //nolint:nilerr // waiters only matter for the report
		}
		if t := h.tasks[w.GetSemaphore()]; t != nil && len(t.old) > 0 {
			pending[t] = true
		}
	}
	// A caller that was waiting a moment ago may already be a holder, even though the event has not arrived yet.
	req := &gatekeeperv1.ListHoldersRequest{}
	if len(h.names) <= lookup.MaxNames {
		req.Names = h.names
	}
	for p, err := range c.AllHolders(listCtx, req) {
		if err != nil {
			break
		}
		if t := h.tasks[p.GetSemaphore()]; t != nil && len(t.old) > 0 && p.GetGrantedRevision() > h.change {
			pending[t] = true
		}
	}
	timer := time.NewTimer(lingerTime)
	defer timer.Stop()
	for {
		for t := range pending {
			if len(t.started) > 0 {
				delete(pending, t)
			}
		}
		if len(pending) == 0 {
			return nil
		}
		select {
		case t, ok := <-events:
			if !ok {
				return nil
			}
			if err := o.handleUpdate(ctx, c, h, t, b); err != nil {
				return err
			}
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// maxBoardLines is the maximum number of old holders that a board shows.
const maxBoardLines = 10

// board shows the progress of a move. On a terminal it redraws its lines; otherwise it prints a line for each event.
type board struct {
	out   io.Writer
	live  bool
	drawn int // the number of lines on the terminal
}

// printLine prints a line for an event.
func (b *board) printLine(h *handovers, line string) {
	if b.live {
		b.show(h)
		return
	}
	fmt.Fprintln(b.out, words.Cell(line))
}

// show draws the current state.
func (b *board) show(h *handovers) {
	if !b.live {
		return
	}
	lines := renderBoard(h, time.Now())
	b.clear()
	// Disable wrapping, so that each line takes one row even on a narrow terminal.
	fmt.Fprintf(b.out, "\x1b[?7l%s\n\x1b[?7h", strings.Join(lines, "\n"))
	b.drawn = len(lines)
}

// clear erases the drawn lines.
func (b *board) clear() {
	if b.drawn > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA\x1b[J", b.drawn)
		b.drawn = 0
	}
}

// renderBoard returns the state of a move: a line with counts, and a line for each old holder that has not stopped, in
// task order.
func renderBoard(h *handovers, now time.Time) []string {
	old, gone, granted := 0, 0, 0
	var lines []string
	for _, name := range h.names {
		t := h.tasks[name]
		old += len(t.old)
		granted += len(t.started)
		for _, o := range t.old {
			if o.how != "" {
				gone++
				continue
			}
			state := "must stop"
			if t.drained {
				state = "refused: keeps its slot until its deadline"
			}
			lines = append(lines, words.Cell(fmt.Sprintf("  %s  %s  %s, %s ago", name, words.HolderText(o.permit), state, words.Brief(now.Sub(h.movedAt)))))
		}
	}
	if more := len(lines) - maxBoardLines; more > 0 {
		lines = append(lines[:maxBoardLines], fmt.Sprintf("  ... and %d more", more))
	}
	return slices.Insert(lines, 0, fmt.Sprintf("change %d: %d must stop, %d gone, %d granted to new holders", h.change, old, gone, granted))
}
