package api

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// watchBytes ends a message early: the events of a batch of edits are told together, and may be many.
	watchBytes = 1 << 20
	// watchQuiet is how many revisions may pass without an event for the watcher before it is told where it stands: so it
	// resumes from where the events are still held.
	watchQuiet = 1000
)

// Watch streams what this server applies, from a revision on. A follower passes the stream on to the leader where it can, and
// when that way breaks the watcher comes again and resumes. The first message has no events: its revision is where the
// stream begins. A watcher that was overtaken is told so and goes on from there.
func (s *definitionService) Watch(m *gatekeeperv1.WatchRequest, stream grpc.ServerStreamingServer[gatekeeperv1.WatchResponse]) error {
	names, err := compileGlobs("names", m.GetNames())
	if err != nil {
		return err
	}
	w := &watcher{names: names, permits: m.GetPermits(), send: stream.Send}
	w.told = s.cfg.Machine.State().Revision()
	if from := m.GetFromRevision(); from > 0 {
		w.told = from - 1
	}
	// Events above what the message says are told, and none at or below it: the subscription begins at the same revision.
	subscription := s.cfg.Hub.Subscribe(w.told)
	defer subscription.Close()
	if err := stream.Send(&gatekeeperv1.WatchResponse{Revision: w.told}); err != nil {
		return err
	}
	return w.run(stream.Context(), subscription)
}

// watcher is one stream.
type watcher struct {
	names   globSet
	permits bool
	send    func(*gatekeeperv1.WatchResponse) error
	told    uint64 // the revision of the last message
}

func (w *watcher) run(ctx context.Context, subscription *watch.Subscription) error {
	for {
		batch, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		if err := w.tell(&batch); err != nil {
			return err
		}
	}
}

// tell sends the events of a batch that the watcher wants. Only the last of several messages has the batch's revision: who
// resumes after the first of them is told all of them again.
func (w *watcher) tell(batch *watch.Batch) error {
	out := &gatekeeperv1.WatchResponse{Revision: batch.Revision, Missed: batch.Missed}
	size := 0
	for i := range batch.Events {
		e := &batch.Events[i]
		if !w.wants(e) {
			continue
		}
		event := toEvent(e)
		if event == nil {
			continue
		}
		n := proto.Size(event)
		if size+n > watchBytes && size > 0 {
			if err := w.send(&gatekeeperv1.WatchResponse{Events: out.Events, Revision: w.told}); err != nil {
				return err
			}
			out.Events, size = nil, 0
		}
		out.Events = append(out.Events, event)
		size += n
	}
	if len(out.Events) == 0 && !out.Missed && batch.Revision < w.told+watchQuiet {
		return nil
	}
	w.told = batch.Revision
	return w.send(out)
}

// wants says whether the watcher asked for an event. Cordons concern every semaphore.
func (w *watcher) wants(e *fsm.Event) bool {
	return (w.permits || !aboutPermits(e)) && (e.Semaphore == "" || w.names.match(e.Semaphore))
}
