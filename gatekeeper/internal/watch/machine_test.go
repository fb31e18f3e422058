package watch

import (
	"bytes"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func create(names ...string) fsm.EditBatch {
	batch := fsm.EditBatch{Author: "test", At: time.Unix(1_700_000_000, 0).UTC()}
	for _, name := range names {
		batch.Changes = append(batch.Changes, fsm.Change{Kind: fsm.Create, Name: name, Definition: &semaphore.Definition{
			Name: name, GroupPattern: ".*", AcquirerPattern: ".*", Permits: 1, Duration: time.Minute,
			OnExpiry: semaphore.OnExpiryFree, FiringOnLoss: semaphore.FiringSpent,
			FiringRetention: semaphore.DefaultFiringRetention, FiringLimit: semaphore.DefaultFiringLimit,
		}})
	}
	return batch
}

func TestHub_StateMachine_DeliversEditsAndSnapshots(t *testing.T) {
	machine, h := fsm.New("id"), New(0)
	machine.Subscribe(h.Applied)
	s := h.Subscribe(0)
	defer s.Close()

	apply := func(index uint64, cmds ...fsm.Command) {
		t.Helper()
		entry, err := fsm.Encode(1, cmds)
		if err != nil {
			t.Fatal(err)
		}
		results, err := machine.Apply(index, 1, entry)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if edit, ok := r.(fsm.EditResult); !ok || edit.Conflict != nil {
				t.Fatalf("EditBatch = %+v, want no conflict", r)
			}
		}
	}
	apply(1, create("a", "b"), create("c"))
	b, err := s.Next(t.Context())
	if err != nil || b.Missed || len(b.Events) != 3 || b.Revision != machine.State().Revision() {
		t.Fatalf("Next() = %+v, %v; want three events at the current revision", b, err)
	}
	if b.Events[0].Revision != b.Events[1].Revision || b.Events[1].Revision == b.Events[2].Revision {
		t.Errorf("revisions %v, want the edits in one batch to share a revision", revisions(b.Events))
	}
	if e := b.Events[2]; e.Kind != fsm.Created || e.Semaphore != "c" || e.Definition == nil {
		t.Errorf("third event = %+v, want a created event for semaphore c", e)
	}

	var snapshot bytes.Buffer
	apply(2, create("d"))
	if err := machine.State().Snapshot(&snapshot); err != nil {
		t.Fatal(err)
	}
	other, late := fsm.New("id"), New(0)
	other.Subscribe(late.Applied)
	behind := late.Subscribe(b.Revision) // the watcher resumes on another server, which received a snapshot
	defer behind.Close()
	if err := other.Restore(&snapshot); err != nil {
		t.Fatal(err)
	}
	wantMissed(t, behind, machine.State().Revision())
}
