package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// Linearizable checks each semaphore separately against a sequential model. A call may have taken effect at any moment
// between its start and its response. A call without a response may have taken effect at any moment after its start, or
// never. An expiry is not a call: once the holder no longer relies on the permit, the slot may or may not be free.
//
// modelTime bounds the search for each semaphore.
func Linearizable(h *history.History, modelTime time.Duration) Result {
	var r Result
	m := model()
	for _, p := range partitions(h) {
		if p.err != nil {
			r.Violations = append(r.Violations, Violation{Linear, p.semaphore, p.err.Error()})
			continue
		}
		switch porcupine.CheckOperationsTimeout(m, p.operations, modelTime) {
		case porcupine.Unknown:
			r.Undecided = append(r.Undecided, p.semaphore)
		case porcupine.Illegal:
			r.Violations = append(r.Violations, Violation{Linear, p.semaphore, p.explain(m, modelTime)})
		}
	}
	return r
}

// explain finds the first response that no order explains. It returns that response and up to 15 earlier ones.
func (p *partition) explain(m porcupine.Model, modelTime time.Duration) string {
	operations := slices.SortedStableFunc(slices.Values(p.operations), func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	n := sort.Search(len(operations), func(n int) bool {
		return porcupine.CheckOperationsTimeout(m, knownAt(operations, operations[n].Return), modelTime) == porcupine.Illegal
	})
	if n == len(operations) {
		return "no order of its operations explains the responses"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "no order of its operations explains the last of these responses:")
	for _, op := range operations[max(0, n-15) : n+1] {
		fmt.Fprintf(&text, "\n  %v", op.Input)
	}
	return text.String()
}

// knownAt returns the operations known at the given time. Calls still in progress have an unknown outcome.
func knownAt(operations []porcupine.Operation, at int64) []porcupine.Operation {
	var known []porcupine.Operation
	for _, op := range operations {
		if op.Call > at {
			continue
		}
		if op.Return > at {
			st := *op.Input.(*step)
			st.unknown = true
			op.Input, op.Return = &st, int64(never)
		}
		known = append(known, op)
	}
	return known
}

// partition is the part of a history that concerns one semaphore.
type partition struct {
	semaphore  string
	operations []porcupine.Operation
	err        error
	hasTasks   bool // the semaphore's permits carry tasks
}

func (p *partition) add(from, to time.Duration, st *step) {
	st.from, st.to = from, to
	p.operations = append(p.operations, porcupine.Operation{Input: st, Call: int64(from), Return: int64(to)})
}

// String formats the step for an error message.
func (st *step) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v..", st.from)
	if st.to < never {
		fmt.Fprintf(&text, "%v", st.to)
	}
	fmt.Fprintf(&text, " %s", stepNames()[st.kind])
	if g := st.grant; g != nil {
		fmt.Fprintf(&text, " token %d weight %d of %s/%s/%s", g.token, st.weight, g.identity.Group, g.identity.Acquirer, g.identity.HolderID)
	} else if id := st.request.Identity; id.Acquirer != "" {
		fmt.Fprintf(&text, " weight %d of %s/%s/%s", st.weight, id.Group, id.Acquirer, id.HolderID)
	}
	if st.answer.Reason != "" {
		fmt.Fprintf(&text, ": %s", st.answer.Reason)
	}
	if st.rule != nil {
		fmt.Fprintf(&text, ": %+v, version %d", st.rule.Definition, st.answer.Revision)
	}
	if g := st.grant; g != nil && st.kind == stepGrant && g.superseded != 0 {
		fmt.Fprintf(&text, ", superseding token %d", g.superseded)
	}
	return text.String()
}

func stepNames() []string {
	return []string{"granted", "unanswered acquire", "in the queue", "out of the queue", "denied", "refreshed", "has ended", "released",
		"unanswered release", "may have been freed unsafely", "may have been superseded", "may have been replaced", "may have expired", "may be free after a release", "may be free after an expiry", "freed by an operator", "revoked", "verified",
		"edited", "read", "paused", "resumed", "cordoned", "uncordoned"}
}

// partitions returns each semaphore's steps, sorted by the semaphores' names.
func partitions(h *history.History) []*partition {
	b := newBuilder(h)
	for _, op := range h.Operations {
		b.operation(op)
	}
	b.cordons()
	b.edits()
	b.releases()
	b.grants()
	var all []*partition
	for _, name := range slices.Sorted(maps.Keys(b.parts)) {
		all = append(all, b.parts[name])
	}
	return all
}
