package check

import (
	"math"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/history"
)

// taskGrants returns the permits handed out with tasks. No call requests these permits; they are granted after the job
// is submitted.
func taskGrants(h *history.History) map[uint64]*grant {
	submitted := map[string]time.Duration{}
	for _, op := range slices.Backward(h.Operations) {
		if op.Request.Kind == history.Submit {
			submitted[op.Request.Job.ID] = op.At
		}
	}
	all := map[uint64]*grant{}
	for _, t := range h.HandedTasks {
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
		if st.excluded, err = compilePattern(op.Request.Acquirers); err != nil {
			b.part("").err = err
			return
		}
		added := map[string]bool{}
		for _, g := range b.all {
			if !added[g.semaphore] && st.excluded.MatchString(g.identity.Acquirer) {
				added[g.semaphore] = true
				copied := st
				b.part(g.semaphore).change(op, &copied)
			}
		}
	}
}

// addTaskPermits records that the semaphore's permits carry tasks. If a task never reached its worker, its permit does
// not appear in the history, so an unseen permit can always explain why none was free.
func (b *builder) addTaskPermits(semaphore string) {
	if p := b.part(semaphore); !p.hasTasks {
		p.hasTasks = true
		p.add(0, 0, &step{kind: stepUnansweredAcquire, weight: math.MaxInt32})
	}
}
