package move

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// boardLines is how many old holders a board shows.
const boardLines = 10

// board shows a person on a terminal how a move goes, in lines that are replaced by the next ones; anybody else gets a line for each
// thing that happens.
type board struct {
	out   io.Writer
	live  bool
	drawn int // lines on the terminal
}

// say prints a line for something that happened.
func (b *board) say(h *handovers, line string) {
	if b.live {
		b.show(h)
		return
	}
	fmt.Fprintln(b.out, words.Cell(line))
}

// show shows how things stand.
func (b *board) show(h *handovers) {
	if !b.live {
		return
	}
	lines := boardOf(h, time.Now())
	b.clear()
	// Without wrapping each is one line of the terminal, however narrow it is.
	fmt.Fprintf(b.out, "\x1b[?7l%s\n\x1b[?7h", strings.Join(lines, "\n"))
	b.drawn = len(lines)
}

// clear takes what was shown away.
func (b *board) clear() {
	if b.drawn > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA\x1b[J", b.drawn)
		b.drawn = 0
	}
}

// boardOf is how a move stands: a line of counts, and the old holders that are not gone, in the order of their tasks.
func boardOf(h *handovers, now time.Time) []string {
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
			state := "told to stop"
			if t.drained {
				state = "refused: keeps its slot to its deadline"
			}
			lines = append(lines, words.Cell(fmt.Sprintf("  %s  %s  %s, %s ago", name, words.HolderText(o.permit), state, words.Brief(now.Sub(h.begun)))))
		}
	}
	if more := len(lines) - boardLines; more > 0 {
		lines = append(lines[:boardLines], fmt.Sprintf("  ... and %d more", more))
	}
	return slices.Insert(lines, 0, fmt.Sprintf("change %d: %d told to stop, %d gone, %d granted anew", h.change, old, gone, granted))
}
