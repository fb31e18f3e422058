package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Gather assembles a history from entries: it pairs calls with their responses and keeps the last entry for each
// belief. The order of the entries matters only for beliefs with the same client and token. Gather fails if entries
// contradict each other.
func Gather(entries []Entry) (*History, error) {
	type call struct {
		client string
		seq    int64
	}
	type belief struct {
		client string
		token  uint64
	}
	calls, beliefs := map[call]int{}, map[belief]int{}
	deaths := map[string]time.Duration{}
	h := &History{}
	for _, e := range entries {
		switch {
		case e.Call != nil:
			key := call{e.Call.Client, e.Call.Seq}
			if _, ok := calls[key]; ok {
				return nil, fmt.Errorf("%s made call %d twice", key.client, key.seq)
			}
			calls[key] = len(h.Operations)
			h.Operations = append(h.Operations, Operation{Call: *e.Call})
		case e.Belief != nil:
			b := *e.Belief
			b.ReliedExplicitly = b.ReliedUntil > 0
			b.ReliedUntil = max(b.ReliedUntil, b.Until)
			key := belief{b.Client, b.Token}
			if i, ok := beliefs[key]; ok {
				if !b.ReliedExplicitly {
					b.ReliedUntil, b.ReliedExplicitly = max(b.ReliedUntil, h.Beliefs[i].ReliedUntil), h.Beliefs[i].ReliedExplicitly
				}
				h.Beliefs[i] = b
				continue
			}
			beliefs[key] = len(h.Beliefs)
			h.Beliefs = append(h.Beliefs, b)
		case e.Death != nil:
			deaths[e.Death.Client] = e.Death.At
		case e.Fault != nil:
			h.Faults = append(h.Faults, *e.Fault)
		case e.State != nil:
			h.States = append(h.States, *e.State)
		case e.HandedTask != nil:
			h.HandedTasks = append(h.HandedTasks, *e.HandedTask)
		}
	}
	for _, e := range entries {
		if e.Return == nil {
			continue
		}
		i, ok := calls[call{e.Return.Client, e.Return.Seq}]
		switch {
		case !ok:
			return nil, fmt.Errorf("%s got a response to call %d, which it did not make", e.Return.Client, e.Return.Seq)
		case h.Operations[i].Return != nil:
			return nil, fmt.Errorf("%s got two responses to call %d", e.Return.Client, e.Return.Seq)
		case e.Return.At < h.Operations[i].At:
			return nil, fmt.Errorf("%s got the response to call %d before it made the call", e.Return.Client, e.Return.Seq)
		}
		h.Operations[i].Return = e.Return
	}
	for i, b := range h.Beliefs {
		if died, ok := deaths[b.Client]; ok {
			h.Beliefs[i].Until = min(b.Until, died)
		}
	}
	slices.SortStableFunc(h.HandedTasks, func(a, b HandedTask) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(h.Operations, func(a, b Operation) int { return cmp.Compare(a.At, b.At) })
	return h, nil
}
