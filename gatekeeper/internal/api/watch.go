package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// watchBytes ends a message early: the events of a batch of edits are told together, and may be many.
	watchBytes = 1 << 20
	// watchQuiet is how many revisions may pass without an event for the watcher before it is told where it stands: so it
	// resumes from where the events are still held.
	watchQuiet = 1000
	// minLiveEvery and maxLiveEvery bound how often a live report is sent, maxLive how many semaphores it has, and how many permits of each.
	minLiveEvery, maxLiveEvery = time.Second, time.Minute
	maxLive                    = 1000
)

// watchService serves gatekeeper.v1.WatchService.
type watchService struct {
	gatekeeperv1.UnimplementedWatchServiceServer
	*API
}

// Watch streams what this server applies, from a revision on. A follower passes the stream on to the leader where it can, and
// when that way breaks the watcher comes again and resumes. The first message has no events: its revision is where the
// stream begins. A watcher that was overtaken is told so and goes on from there.
func (s *watchService) Watch(m *gatekeeperv1.WatchRequest, stream grpc.ServerStreamingServer[gatekeeperv1.WatchResponse]) error {
	chosen, err := selector.Parse("", m.GetNames(), m.GetLabels())
	if err != nil {
		return err
	}
	w := &watcher{api: s.API, chosen: chosen.Within(s.sees(stream.Context())), permits: m.GetPermits(), records: m.GetRecords(), send: stream.Send}
	if every := m.GetLiveEvery(); every != nil {
		if w.every = every.AsDuration(); w.every < minLiveEvery || w.every > maxLiveEvery {
			return invalid("live_every", w.every.String(), fmt.Sprintf("must be %v to %v, or absent", minLiveEvery, maxLiveEvery))
		}
	}
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
	api     *API
	chosen  *selector.Selector
	permits bool
	records bool
	every   time.Duration // between live reports; 0: none
	send    func(*gatekeeperv1.WatchResponse) error
	told    uint64 // the revision of the last message
}

func (w *watcher) run(ctx context.Context, subscription *watch.Subscription) error {
	if w.every == 0 {
		return w.follow(ctx, subscription)
	}
	for {
		if w.api.cfg.Consensus.Role() == consensus.RoleLeader {
			if err := w.send(&gatekeeperv1.WatchResponse{Revision: w.told, Live: w.live()}); err != nil {
				return err
			}
		}
		until, cancel := context.WithTimeout(ctx, w.every)
		err := w.follow(until, subscription)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

// follow sends events until ctx ends.
func (w *watcher) follow(ctx context.Context, subscription *watch.Subscription) error {
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

// live reports what is in the leader's memory of the watched semaphores.
func (w *watcher) live() *gatekeeperv1.Live {
	out := new(gatekeeperv1.Live)
	state := w.api.cfg.Machine.State()
	for stored := range w.chosen.Definitions(state, "") {
		d := stored.Definition
		waiters := w.api.reader.QueueLength(d.Name)
		if waiters == 0 && state.HolderCount(d.Name) == 0 {
			continue
		}
		if len(out.GetSemaphores()) == maxLive {
			out.More = true
			break
		}
		live := &gatekeeperv1.LiveSemaphore{Semaphore: d.Name, Waiters: uint32(waiters)}
		for p := range state.Holders(d.Name) {
			if len(live.GetDeadlines()) == maxLive {
				break
			}
			if left, ok := w.api.reader.Remaining(p.Token); ok {
				live.Deadlines = append(live.Deadlines, &gatekeeperv1.Deadline{Token: p.Token, ExpiresIn: durationpb.New(max(left, 0))})
			}
		}
		out.Semaphores = append(out.Semaphores, live)
	}
	return out
}

// tell sends the events of a batch that the watcher wants. Only the last of several messages has the batch's revision: who
// resumes after the first of them is told all of them again.
func (w *watcher) tell(batch *watch.Batch) error {
	out := &gatekeeperv1.WatchResponse{Revision: batch.Revision, Missed: batch.Missed}
	size := 0
	told := make(map[string]bool) // the semaphores whose records are in the message
	for i := range batch.Events {
		e := &batch.Events[i]
		if !w.wants(e) {
			continue
		}
		event := toEvent(e)
		if event == nil {
			continue
		}
		var record *gatekeeperv1.DefinitionRecord
		if w.records && !told[e.Semaphore] {
			record = w.record(e.Semaphore)
		}
		n := proto.Size(event) + proto.Size(record)
		if size+n > watchBytes && size > 0 {
			if err := w.send(&gatekeeperv1.WatchResponse{Events: out.Events, Records: out.Records, Revision: w.told}); err != nil {
				return err
			}
			out.Events, out.Records, size = nil, nil, 0
		}
		out.Events = append(out.Events, event)
		size += n
		if record != nil {
			out.Records = append(out.Records, record)
			told[e.Semaphore] = true
		}
	}
	if len(out.Events) == 0 && !out.Missed && batch.Revision < w.told+watchQuiet {
		return nil
	}
	w.told = batch.Revision
	return w.send(out)
}

// record is a semaphore as it is now; nil without a definition, and where its permits are too many to look at for each event.
func (w *watcher) record(name string) *gatekeeperv1.DefinitionRecord {
	state := w.api.cfg.Machine.State()
	stored := state.Definition(name)
	if stored == nil || state.HolderCount(name) > maxLive {
		return nil
	}
	return w.api.record(state, stored)
}

// wants reports whether the watcher asked for an event.
func (w *watcher) wants(e *fsm.Event) bool {
	return (w.permits || !aboutPermits(e)) && w.chosen.MatchEvent(w.api.cfg.Machine.State(), e)
}
