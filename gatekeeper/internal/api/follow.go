package api

import (
	"maps"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	rules "github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// FollowJob streams a job's state and its tasks as they change. Like Watch, it reads the state that this server has
// applied. A follower may send a change slightly later than the leader.
func (s *workService) FollowJob(m *gatekeeperv1.FollowJobRequest, stream grpc.ServerStreamingServer[gatekeeperv1.FollowJobResponse]) error {
	ctx := stream.Context()
	state, j, err := s.findJob(ctx, m.GetId())
	if err != nil {
		return err
	}
	ctx, done := s.whileAllowed(ctx, mayView(j.Semaphore))
	defer done()
	subscription := s.cfg.Hub.Subscribe(state.Revision())
	defer subscription.Close()
	f := &jobFollower{service: s, id: j.ID, number: j.Number, results: m.GetResults(), after: m.GetAfterRevision(), ahead: make(map[uint32]uint64), send: stream.Send}
	for upTo := state.Revision(); ; {
		over, err := f.sendChanges(state, upTo)
		if err != nil || over {
			return err
		}
		for relevant := false; !relevant; {
			batch, err := subscription.Next(ctx)
			if err != nil {
				return cancellationError(ctx, err)
			}
			relevant, upTo = f.processEvents(batch.Missed, batch.Events), batch.Revision
		}
		state = s.cfg.Machine.State()
	}
}

// jobFollower is a stream that follows a job.
type jobFollower struct {
	service *workService
	id      string
	number  uint64
	results bool
	after   uint64 // the client is up to date as of this revision
	// changed holds the indexes of the tasks that changed since then; nil if unknown.
	changed map[uint32]struct{}
	// ahead maps tasks to the revision at which they were sent, if it is later than after. The events for these changes
	// have yet to arrive and will contain nothing new.
	ahead map[uint32]uint64
	send  func(*gatekeeperv1.FollowJobResponse) error
}

// processEvents processes events and reports whether any of them concern the job.
func (f *jobFollower) processEvents(missed bool, events []fsm.Event) (relevant bool) {
	if missed {
		f.changed = nil
		return true
	}
	for i := range events {
		e := &events[i]
		switch {
		case e.Job == nil || e.Job.Number != f.number:
			continue
		case e.Task != nil && f.changed != nil:
			f.changed[e.Task.Index] = struct{}{}
		case e.Kind == fsm.TasksChanged:
			f.changed = nil
		}
		relevant = true
	}
	return relevant
}

// sendChanges sends the changes and reports whether the job has ended. upTo is the revision up to which events have
// been processed. If the state is newer, changed lacks the tasks that changed after upTo, so the client is up to date
// only as of upTo.
func (f *jobFollower) sendChanges(state *fsm.State, upTo uint64) (over bool, err error) {
	j := state.JobByNumber(f.number)
	if j == nil {
		return true, &keeper.NoSuchJobError{ID: f.id}
	}
	if j.Finished() {
		f.changed = nil // no more events will be read
	}
	if f.changed == nil {
		upTo = state.Revision()
	}
	first := &gatekeeperv1.FollowJobResponse{Job: toJob(j)}
	m, bytes := first, 0
	add := func(t *rules.Task) error {
		if t == nil || t.Index >= j.Fresh || t.Revision <= f.after || t.Revision == f.ahead[t.Index] {
			return nil
		}
		if t.Revision > upTo {
			f.ahead[t.Index] = t.Revision
		}
		line := f.service.task(state, j, t, false, f.results && t.Finished())
		if bytes += proto.Size(line); bytes > messageBytes && len(m.GetTasks()) > 0 {
			if err := f.send(m); err != nil {
				return err
			}
			m, bytes = new(gatekeeperv1.FollowJobResponse), proto.Size(line)
		}
		m.Tasks = append(m.Tasks, line)
		return nil
	}
	if f.changed == nil {
		for t := range state.Tasks(j.Number, 0) {
			if err := add(t); err != nil {
				return false, err
			}
			if t.Index >= j.Fresh {
				break
			}
		}
	}
	for index := range f.changed {
		if err := add(state.Task(rules.Ref{Job: j.Number, Index: index})); err != nil {
			return false, err
		}
	}
	f.after, f.changed = max(f.after, upTo), make(map[uint32]struct{})
	maps.DeleteFunc(f.ahead, func(_ uint32, revision uint64) bool { return revision <= f.after })
	m.Revision = f.after
	return j.Finished(), f.send(m)
}
