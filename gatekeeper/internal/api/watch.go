package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	// watchBytes limits the size of a message. A batch of edits may cause many events, which are sent together.
	watchBytes = 1 << 20
	// watchQuiet is the number of revisions without a matching event after which the watcher gets a message with the
	// current revision. It can then resume from a revision whose events are still stored.
	watchQuiet = 1000
	// minLiveEvery and maxLiveEvery bound the interval between live reports. maxLive is the maximum number of
	// semaphores in a report, and of permits per semaphore.
	minLiveEvery, maxLiveEvery = time.Second, time.Minute
	maxLive                    = 1000
	// collectFor is how long changes are collected for a watcher that asked for records. After collectBurst messages in
	// a row, the interval becomes collectBusy. A single change is therefore sent promptly, and a steady stream of
	// changes costs little.
	collectFor, collectBusy = 100 * time.Millisecond, time.Second
	collectBurst            = 4
)

// watchService serves gatekeeper.v1.WatchService.
type watchService struct {
	gatekeeperv1.UnimplementedWatchServiceServer
	*API
}

// Watch streams the changes that this server applies after a revision. A follower forwards the stream to the leader if
// it can. If that connection breaks, the watcher reconnects and resumes. The first message contains no events, only the
// revision at which the stream begins. A watcher that falls too far behind gets a message with missed set and continues
// from there.
func (s *watchService) Watch(m *gatekeeperv1.WatchRequest, stream grpc.ServerStreamingServer[gatekeeperv1.WatchResponse]) error {
	chosen, err := selector.Parse("", m.GetNames(), m.GetLabels())
	if err != nil {
		return err
	}
	w := &watcher{api: s.API, chosen: chosen.Within(s.viewFilter(stream.Context())), permits: m.GetPermits(), send: stream.Send}
	if m.GetRecords() {
		w.changed = &changes{names: make(map[string]bool)}
		if m.GetFromRevision() == 0 { // otherwise, some denials may be newer than the records that the caller has read
			_, w.changed.denials = s.reader.DenialsChanged(0)
		}
	}
	if interval := m.GetLiveEvery(); interval != nil {
		if w.interval = interval.AsDuration(); w.interval < minLiveEvery || w.interval > maxLiveEvery {
			return invalid("live_every", w.interval.String(), fmt.Sprintf("must be %v to %v, or absent", minLiveEvery, maxLiveEvery))
		}
	}
	w.sent = s.cfg.Machine.State().Revision()
	if from := m.GetFromRevision(); from > 0 {
		w.sent = from - 1
	}
	// The stream contains exactly the events after the revision in this message, because the subscription begins at the
	// same revision.
	subscription := s.cfg.Hub.Subscribe(w.sent)
	defer subscription.Close()
	if err := stream.Send(&gatekeeperv1.WatchResponse{Revision: w.sent}); err != nil {
		return err
	}
	return w.run(stream.Context(), subscription)
}

// watcher is the state of one stream.
type watcher struct {
	api      *API
	chosen   *selector.Selector
	permits  bool
	interval time.Duration // interval of live reports; 0 for none
	send     func(*gatekeeperv1.WatchResponse) error
	sent     uint64 // revision of the last message

	changed *changes // nil unless the watcher wants records
}

// changes holds the changes collected for the next message to a watcher that asked for records.
type changes struct {
	names    map[string]bool
	missed   bool
	revision uint64
	denials  uint64    // revision up to which denials have been collected
	due      time.Time // when the next message is due; zero if there are no changes
	throttle time.Time // rate limit: each message moves it forward by collectBusy
}

// run sends events or records, and live reports, until ctx ends.
func (w *watcher) run(ctx context.Context, subscription *watch.Subscription) error {
	var live time.Time // when the next report is due
	if w.interval > 0 {
		live = time.Now()
	}
	for {
		due := live
		if w.changed != nil && !w.changed.due.IsZero() && (due.IsZero() || w.changed.due.Before(due)) {
			due = w.changed.due
		}
		batch, err := nextUntil(ctx, subscription, due)
		switch {
		case err == nil && w.changed != nil:
			w.collect(&batch)
		case err == nil:
			err = w.sendBatch(&batch)
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = nil
		}
		if now := time.Now(); err == nil && w.changed != nil && !w.changed.due.IsZero() && !now.Before(w.changed.due) {
			err = w.sendChanges()
		}
		if now := time.Now(); err == nil && w.interval > 0 && !now.Before(live) {
			live = now.Add(w.interval)
			if w.api.cfg.Consensus.Role() == consensus.RoleLeader {
				if w.changed != nil {
					w.collectDenials(now)
				}
				err = w.send(&gatekeeperv1.WatchResponse{Revision: w.sent, Live: w.live()})
			}
		}
		if err != nil {
			return err
		}
	}
}

// nextUntil waits for the next batch until a deadline. The zero time means no deadline.
func nextUntil(ctx context.Context, subscription *watch.Subscription, due time.Time) (watch.Batch, error) {
	if due.IsZero() {
		return subscription.Next(ctx)
	}
	until, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	return subscription.Next(until)
}

// collect adds the changes in a batch.
func (w *watcher) collect(batch *watch.Batch) {
	c := w.changed
	before := len(c.names)
	c.missed = c.missed || batch.Missed
	for i := range batch.Events {
		e := &batch.Events[i]
		if !w.wants(e) {
			continue
		}
		if e.Semaphore == "" {
			c.missed = true
			continue
		}
		c.names[e.Semaphore] = true
	}
	c.revision = batch.Revision
	if c.due.IsZero() && (len(c.names) > before || c.missed || batch.Revision >= w.sent+watchQuiet) {
		c.schedule(time.Now())
	}
}

// collectDenials adds the semaphores whose denials have changed. No events report such changes.
func (w *watcher) collectDenials(now time.Time) {
	c, state := w.changed, w.api.cfg.Machine.State()
	before := len(c.names)
	var names []string
	names, c.denials = w.api.reader.DenialsChanged(c.denials)
	for _, name := range names {
		if w.chosen.MatchNow(state, name) {
			c.names[name] = true
		}
	}
	if len(c.names) > before && c.due.IsZero() {
		c.revision = max(c.revision, w.sent)
		c.schedule(now)
	}
}

// schedule sets the time of the next message.
func (c *changes) schedule(now time.Time) {
	if c.throttle.Before(now) {
		c.throttle = now
	}
	c.throttle = c.throttle.Add(collectBusy)
	c.due = now.Add(collectFor)
	if earliest := c.throttle.Add(-collectBurst * collectBusy); earliest.After(c.due) {
		c.due = earliest
	}
}

// sendChanges sends the collected records. If it needs several messages, only the last one carries the new revision, as
// in sendBatch.
func (w *watcher) sendChanges() error {
	c := w.changed
	state := w.api.cfg.Machine.State()
	out := &gatekeeperv1.WatchResponse{Missed: c.missed}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(c.names)) {
		stored := state.Definition(name)
		switch {
		case stored == nil:
			out.Undefined = append(out.Undefined, name)
			size += len(name)
		case state.HolderCount(name) <= maxLive: // record visits each permit
			record := w.api.record(state, stored)
			out.Records = append(out.Records, record)
			size += proto.Size(record)
		}
		if size > watchBytes {
			out.Revision = w.sent
			if err := w.send(out); err != nil {
				return err
			}
			out, size = new(gatekeeperv1.WatchResponse), 0
		}
	}
	w.sent = c.revision
	out.Revision = w.sent
	clear(c.names)
	c.missed, c.due = false, time.Time{}
	return w.send(out)
}

// live reports the leader's in-memory data about the watched semaphores.
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

// sendBatch sends the wanted events of a batch. If it needs several messages, only the last one carries the batch's
// revision, so a watcher that resumes before receiving it gets all events again.
func (w *watcher) sendBatch(batch *watch.Batch) error {
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
			if err := w.send(&gatekeeperv1.WatchResponse{Events: out.Events, Revision: w.sent}); err != nil {
				return err
			}
			out.Events, size = nil, 0
		}
		out.Events = append(out.Events, event)
		size += n
	}
	if len(out.Events) == 0 && !out.Missed && batch.Revision < w.sent+watchQuiet {
		return nil
	}
	w.sent = batch.Revision
	return w.send(out)
}

// wants reports whether the watcher asked for an event.
func (w *watcher) wants(e *fsm.Event) bool {
	return (w.permits || !isPermitEvent(e)) && w.chosen.MatchEvent(w.api.cfg.Machine.State(), e)
}
