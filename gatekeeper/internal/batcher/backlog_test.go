package batcher

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

func TestBacklog_AnyOperations_IsFIFOAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l backlog
		pushed, popped, maxLen := 0, 0, 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				var calls []Call
				for range rapid.IntRange(1, 50).Draw(t, "n") {
					calls = append(calls, Call{Command: fsm.Extend{Token: uint64(pushed)}})
					pushed++
				}
				l.push(calls...)
				maxLen = max(maxLen, l.len())
			},
			"pop": func(t *rapid.T) {
				limit := rapid.IntRange(0, 60).Draw(t, "limit")
				front := l.front(nil, limit)
				if want := min(limit, pushed-popped); len(front) != want {
					t.Fatalf("front() returned %d calls, want %d", len(front), want)
				}
				for i, c := range front {
					if got := c.Command.(fsm.Extend).Token; got != uint64(popped+i) {
						t.Fatalf("front() returned call %d at position %d", got, popped+i)
					}
				}
				l.pop(len(front))
				popped += len(front)
			},
			"": func(t *rapid.T) {
				if l.len() != pushed-popped {
					t.Fatalf("len() = %d, want %d", l.len(), pushed-popped)
				}
				if len(l.calls) > 2*maxLen {
					t.Fatalf("slice has %d elements, want at most twice the maximum length %d", len(l.calls), maxLen)
				}
			},
		})
	})
}
