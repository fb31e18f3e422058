package check

import (
	"math"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// carrying returns the permits that were handed out with tasks. No call requests these permits; they are granted after
// the job is submitted.
func carrying(h *history.History) map[uint64]*grant {
	submitted := map[string]time.Duration{}
	for _, op := range slices.Backward(h.Operations) {
		if op.Request.Kind == history.Submit {
			submitted[op.Request.Job.ID] = op.At
		}
	}
	all := map[uint64]*grant{}
	for _, t := range h.Handed {
		if t.Semaphore == "" || all[t.Token] != nil {
			continue
		}
		r := history.Request{Kind: history.Acquire, Semaphore: t.Semaphore, Identity: t.Identity, Weight: max(t.Weight, 1), Wait: true}
		all[t.Token] = &grant{
			token: t.Token, semaphore: t.Semaphore, identity: t.Identity, request: r, call: submitted[t.Job], known: t.At, fresh: true, task: true,
		}
	}
	return all
}

// cordons adds each cordon to the semaphores from which it excludes a holder.
func (b *builder) cordons() {
	for _, op := range b.cordonOps {
		st := step{kind: stepCordoned, request: op.Request}
		if op.Request.Kind == history.Uncordon {
			st.kind = stepUncordoned
		}
		var err error
		if st.caught, err = whole(op.Request.Acquirers); err != nil {
			b.part("").err = err
			return
		}
		at := map[string]bool{}
		for _, g := range b.all {
			if !at[g.semaphore] && st.caught.MatchString(g.identity.Acquirer) {
				at[g.semaphore] = true
				own := st
				b.part(g.semaphore).change(op, &own)
			}
		}
	}
}

// works records that permits of the semaphore carry tasks. A permit whose task never reached its worker does not appear
// in the history, so such a permit can always explain why no permit was free.
func (b *builder) works(semaphore string) {
	if p := b.part(semaphore); !p.works {
		p.works = true
		p.add(0, 0, &step{kind: stepGhost, weight: math.MaxInt32})
	}
}
