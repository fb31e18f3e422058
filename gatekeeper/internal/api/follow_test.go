package api

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/fsm"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// A stream reads the events of an entry and then the state, which may be newer. Events for later task changes have not
// been read yet, so the reported revision must not include them.
func TestFollowJob_StateAheadOfEvents_MissesNoChange(t *testing.T) {
	for _, test := range []struct {
		name  string
		tasks int
	}{{"JobContinues", 3}, {"JobEnds", 2}} {
		t.Run(test.name, func(t *testing.T) {
			g := openHandover(t)
			submit := fsm.SubmitJob{Spec: &work.Spec{ID: "j", Semaphore: "s", MaxResult: 8}, Digest: strings.Repeat("x", sha256.Size)}
			for range test.tasks {
				submit.Tasks = append(submit.Tasks, []byte("x"))
			}
			g.keeper.do(submit)
			tokens := []uint64{g.grantTask(t, "a"), g.grantTask(t, "b")}

			sent := make(map[uint32]gatekeeperv1.TaskState)
			var revisions []uint64
			state := g.keeper.machine.State()
			f := &jobFollower{service: &workService{API: g.api}, number: state.Job("j").Number, after: state.Revision(), send: func(m *gatekeeperv1.FollowJobResponse) error {
				for _, task := range m.GetTasks() {
					sent[task.GetIndex()] = task.GetState()
				}
				revisions = append(revisions, m.GetRevision())
				return nil
			}, changed: make(map[uint32]struct{}), ahead: make(map[uint32]uint64)}
			subscription := g.hub.Subscribe(state.Revision())
			defer subscription.Close()
			for _, token := range tokens {
				g.keeper.do(fsm.Release{Token: token, Result: []byte("done")})
			}
			for done := false; !done && len(revisions) < 2; {
				batch := must(subscription.Next(t.Context()))(t)
				f.processEvents(batch.Missed, batch.Events)
				var err error
				if done, err = f.sendChanges(g.keeper.machine.State(), batch.Revision); err != nil {
					t.Fatal(err)
				}
			}
			for index := range uint32(2) {
				if sent[index] != gatekeeperv1.TaskState_TASK_STATE_DONE {
					t.Errorf("task %d was sent as %v, want DONE", index, sent[index])
				}
			}
			if test.tasks == 3 && !slices.Equal(revisions, []uint64{state.Revision() + 1, state.Revision() + 2}) {
				t.Errorf("revisions sent after %d = %v, want the next two", state.Revision(), revisions)
			}
		})
	}
}

// A task that has changed twice is sent once, in its current state. The second event must not send it again.
func TestFollowJob_TaskChangedTwice_IsSentOnce(t *testing.T) {
	g := openHandover(t)
	g.keeper.do(fsm.SubmitJob{Spec: &work.Spec{ID: "j", Semaphore: "s", MaxResult: 8}, Digest: strings.Repeat("x", sha256.Size), Tasks: [][]byte{[]byte("x"), []byte("y")}})
	state, sent := g.keeper.machine.State(), 0
	f := &jobFollower{
		service: &workService{API: g.api}, number: state.Job("j").Number, after: state.Revision(), changed: make(map[uint32]struct{}), ahead: make(map[uint32]uint64),
		send: func(m *gatekeeperv1.FollowJobResponse) error { sent += len(m.GetTasks()); return nil },
	}
	subscription := g.hub.Subscribe(state.Revision())
	defer subscription.Close()
	g.keeper.do(fsm.Release{Token: g.grantTask(t, "a"), Result: []byte("done")})
	for upTo := state.Revision(); upTo < state.Revision()+2; {
		batch := must(subscription.Next(t.Context()))(t)
		f.processEvents(batch.Missed, batch.Events)
		upTo = batch.Revision
		if _, err := f.sendChanges(g.keeper.machine.State(), upTo); err != nil {
			t.Fatal(err)
		}
	}
	if sent != 1 || len(f.ahead) > 0 {
		t.Errorf("the task was sent %d times and ahead = %v, want once and empty", sent, f.ahead)
	}
}

// grantTask grants a worker a task of semaphore "s" and returns the token.
func (g *gate) grantTask(t *testing.T, acquirer string) uint64 {
	t.Helper()
	r, ok := g.keeper.do(fsm.Grant{Semaphore: "s", Identity: semaphore.Identity{Acquirer: acquirer}, Weight: 1, DefinitionVersion: g.keeper.machine.State().Definition("s").Version, Worker: true}).(fsm.GrantResult)
	if !ok || r.Task == nil {
		t.Fatalf("grant without a task: %+v", r)
	}
	return r.Permit.Token
}
