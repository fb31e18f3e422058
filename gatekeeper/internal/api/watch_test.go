package api

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func openWatch(t *testing.T, g *gate, m *gatekeeperv1.WatchRequest) (grpc.ServerStreamingClient[gatekeeperv1.WatchResponse], *gatekeeperv1.WatchResponse) {
	t.Helper()
	stream := must(gatekeeperv1.NewWatchServiceClient(g.conn).Watch(ctx(t), m))(t)
	return stream, next(t, stream)
}

func next(t *testing.T, stream grpc.ServerStreamingClient[gatekeeperv1.WatchResponse]) *gatekeeperv1.WatchResponse {
	t.Helper()
	return must(stream.Recv())(t)
}

func TestWatch_FromNow_ReportsCurrentRevision(t *testing.T) {
	g := open(t)
	g.create("old")
	revision := g.keeper.machine.State().Revision()
	stream, first := openWatch(t, g, new(gatekeeperv1.WatchRequest))
	if first.GetRevision() != revision || len(first.GetEvents()) != 0 || first.GetMissed() {
		t.Errorf("first message = %v, want revision %d", first, revision)
	}
	g.create("new")
	r := next(t, stream)
	if e := r.GetEvents(); len(e) != 1 || e[0].GetKind() != gatekeeperv1.EventKind_EVENT_KIND_CREATED || e[0].GetSemaphore() != "new" ||
		e[0].GetDefinition().GetDefinition().GetName() != "new" || e[0].GetAuthor() != "test" || r.GetRevision() != e[0].GetRevision() {
		t.Errorf("message = %v, want a created event for semaphore new", r)
	}
}

func TestWatch_Resumed_SendsLaterEvents(t *testing.T) {
	g := open(t)
	g.create("a", "b", "c")
	from := g.keeper.machine.State().Definition("b").Version
	stream, first := openWatch(t, g, &gatekeeperv1.WatchRequest{FromRevision: from})
	if first.GetRevision() != from-1 {
		t.Errorf("first message = %v, want the revision before the first event", first)
	}
	for _, name := range []string{"b", "c"} {
		if r := next(t, stream); len(r.GetEvents()) != 1 || r.GetEvents()[0].GetSemaphore() != name {
			t.Errorf("message = %v, want a created event for %s", r, name)
		}
	}
}

func TestWatch_FiltersByNameAndKind(t *testing.T) {
	g := open(t)
	edits, _ := openWatch(t, g, &gatekeeperv1.WatchRequest{Names: []string{"job-*"}})
	all, _ := openWatch(t, g, &gatekeeperv1.WatchRequest{Names: []string{"job-*"}, Permits: true})
	g.create("other", "job-1")
	g.grant(t, "other", "host")
	token := g.grant(t, "job-1", "host").Token
	g.keeper.do(fsm.SetCordon{ID: "zone", GroupPattern: "z", AcquirerPattern: "", Reason: "storm", Author: "ann"})

	if r := next(t, edits); r.GetEvents()[0].GetKind() != gatekeeperv1.EventKind_EVENT_KIND_CREATED || r.GetEvents()[0].GetSemaphore() != "job-1" {
		t.Errorf("message = %v, want a created event for job-1", r)
	}
	if r := next(t, edits); r.GetEvents()[0].GetKind() != gatekeeperv1.EventKind_EVENT_KIND_CORDONED || r.GetEvents()[0].GetReason() != "storm" {
		t.Errorf("message = %v, want a cordoned event", r)
	}
	next(t, all)
	if r := next(t, all); r.GetEvents()[0].GetKind() != gatekeeperv1.EventKind_EVENT_KIND_GRANTED || r.GetEvents()[0].GetPermit().GetToken() != token {
		t.Errorf("message = %v, want a granted event for job-1", r)
	}
}

func TestWatch_TooOldRevision_ReportsMissedAndContinues(t *testing.T) {
	small := watch.New(2)
	g := open(t, func(c *Config) { c.Hub = small })
	g.keeper.machine.Subscribe(small.Applied)
	g.create("a", "b", "c", "d", "e")
	revision := g.keeper.machine.State().Revision()
	stream, _ := openWatch(t, g, &gatekeeperv1.WatchRequest{FromRevision: 2})
	if r := next(t, stream); !r.GetMissed() || r.GetRevision() != revision {
		t.Errorf("message = %v, want missed to be set at the current revision", r)
	}
	g.create("f")
	if r := next(t, stream); r.GetMissed() || r.GetEvents()[0].GetSemaphore() != "f" {
		t.Errorf("message = %v, want a created event for semaphore f", r)
	}
}

// All events of a batch have the same revision. If the batch is split, only its last message may have that revision.
// Otherwise, a watcher that resumes would miss the remaining events.
func TestWatcher_LargeBatch_OnlyLastMessageHasItsRevision(t *testing.T) {
	var sent []*gatekeeperv1.WatchResponse
	w := &watcher{api: &API{cfg: Config{Machine: fsm.New("test")}}, chosen: new(selector.Selector), sent: 4, send: func(r *gatekeeperv1.WatchResponse) error { sent = append(sent, r); return nil }}
	batch := &watch.Batch{Revision: 9}
	for i := range 5 {
		batch.Events = append(batch.Events, fsm.Event{
			Revision: 9, Kind: fsm.Deleted, Semaphore: fmt.Sprint(i), Reason: string(make([]byte, watchBytes/2)),
		})
	}
	if err := w.sendBatch(batch); err != nil {
		t.Fatal(err)
	}
	events := 0
	for i, r := range sent {
		events += len(r.GetEvents())
		if last := i == len(sent)-1; last != (r.GetRevision() == 9) || !last && r.GetRevision() != 4 {
			t.Errorf("message %d of %d has revision %d, want 9 only in the last message", i, len(sent), r.GetRevision())
		}
	}
	if events != 5 || len(sent) < 3 {
		t.Errorf("got %d events in %d messages, want 5 events in 3 or more", events, len(sent))
	}
}

func TestWatcher_NoMatchingEvents_SendsRevisionPeriodically(t *testing.T) {
	var sent []uint64
	w := &watcher{api: &API{cfg: Config{Machine: fsm.New("test")}}, chosen: new(selector.Selector), sent: 1, send: func(r *gatekeeperv1.WatchResponse) error { sent = append(sent, r.GetRevision()); return nil }}
	for revision := uint64(2); revision < 2+2*watchQuiet; revision++ {
		batch := &watch.Batch{Revision: revision, Events: []fsm.Event{{Revision: revision, Kind: fsm.Granted, Semaphore: "s"}}}
		if err := w.sendBatch(batch); err != nil {
			t.Fatal(err)
		}
	}
	if len(sent) != 2 || sent[0] != 1+watchQuiet || sent[1] != 1+2*watchQuiet {
		t.Errorf("revisions sent = %v, want one every watchQuiet revisions", sent)
	}
}

func TestWatch_WithLabels_SendsEventsOfMatchingSemaphores(t *testing.T) {
	t.Parallel()
	g := open(t)
	stream, _ := openWatch(t, g, &gatekeeperv1.WatchRequest{Labels: "team=data", Permits: true})
	for name, team := range map[string]string{"other": "web", "mine": "data"} {
		d := &gatekeeperv1.Definition{Name: name, Labels: map[string]string{"team": team}}
		must(g.definitions.CreateDefinition(ctx(t), &gatekeeperv1.CreateDefinitionRequest{Definition: d}))(t)
	}
	g.grant(t, "other", "host")
	g.grant(t, "mine", "host")
	for _, kind := range []gatekeeperv1.EventKind{gatekeeperv1.EventKind_EVENT_KIND_CREATED, gatekeeperv1.EventKind_EVENT_KIND_GRANTED} {
		if e := next(t, stream).GetEvents(); len(e) != 1 || e[0].GetSemaphore() != "mine" || e[0].GetKind() != kind {
			t.Fatalf("events = %v, want only a %v event for semaphore mine", e, kind)
		}
	}
	want(t, watchCall(&gatekeeperv1.WatchRequest{Labels: "a b"})(ctx(t), g), codes.InvalidArgument, "INVALID_FIELD")
}

func TestWatch_Live_ReportsWaitersAndDeadlines(t *testing.T) {
	t.Parallel()
	g := open(t)
	g.create("held", "idle", "wanted", "unseen")
	p := g.grant(t, "held", "host")
	g.grant(t, "unseen", "host")
	g.keeper.remaining = map[uint64]time.Duration{p.Token: 5 * time.Second}
	g.keeper.waiters = []keeper.Waiter{{Semaphore: "wanted", Place: 1}, {Semaphore: "wanted", Place: 2}}
	stream, first := openWatch(t, g, &gatekeeperv1.WatchRequest{Names: []string{"held", "idle", "wanted"}, LiveEvery: durationpb.New(time.Second)})
	for range 2 { // immediately, and one interval later
		r := next(t, stream)
		live := r.GetLive().GetSemaphores()
		if len(live) != 2 || live[0].GetSemaphore() != "held" || live[1].GetSemaphore() != "wanted" || live[1].GetWaiters() != 2 || r.GetRevision() != first.GetRevision() {
			t.Fatalf("live report = %v, want semaphore held, and semaphore wanted with two waiters", r)
		}
		if d := live[0].GetDeadlines(); len(d) != 1 || d[0].GetToken() != p.Token || d[0].GetExpiresIn().AsDuration() != 5*time.Second {
			t.Fatalf("deadlines of semaphore held = %v, want one in 5 s", d)
		}
	}
	want(t, watchCall(&gatekeeperv1.WatchRequest{LiveEvery: durationpb.New(time.Millisecond)})(ctx(t), g), codes.InvalidArgument, "INVALID_FIELD")
}

func TestWatch_WithRecords_SendsChangedRecords(t *testing.T) {
	t.Parallel()
	g, operator := openOperator(t, "pool", "other")
	stream, _ := openWatch(t, g, &gatekeeperv1.WatchRequest{Names: []string{"pool"}, Permits: true, Records: true})
	g.grant(t, "other", "host")
	p := g.grant(t, "pool", "host")
	r := next(t, stream)
	if records := r.GetRecords(); len(r.GetEvents()) > 0 || len(records) != 1 || records[0].GetDefinition().GetName() != "pool" ||
		records[0].GetUsed() != 1 || records[0].GetHolder().GetToken() != p.Token || records[0].GetPermitRevision() != r.GetRevision() {
		t.Fatalf("message = %v, want only pool's record", r)
	}
	version := g.keeper.machine.State().Definition("pool").Version
	must(g.definitions.DeleteDefinition(ctx(t), &gatekeeperv1.DeleteDefinitionRequest{Name: "pool", ExpectedVersion: version}))(t)
	if r = next(t, stream); len(r.GetRecords()) > 0 || !slices.Equal(r.GetUndefined(), []string{"pool"}) {
		t.Fatalf("message after the deletion: %v, want pool in undefined", r)
	}
	must(operator.Cordon(ctx(t), &gatekeeperv1.CordonRequest{AcquirerPattern: "host-1"}))(t)
	if r = next(t, stream); !r.GetMissed() {
		t.Fatalf("message after a cordon, which may affect any semaphore: %v, want missed", r)
	}
}

func TestWatch_WithRecordsAndLive_SendsNewDenials(t *testing.T) {
	t.Parallel()
	g := open(t)
	g.create("pool", "other", "unseen")
	var calls []uint64 // only the watcher appends
	g.keeper.denialsChanged = func(after uint64) ([]string, uint64) {
		calls = append(calls, after)
		switch len(calls) {
		case 1: // before the first message
			return []string{"pool", "other"}, 2
		case 2:
			return nil, after
		case 3:
			return []string{"pool", "unseen"}, 4
		}
		return nil, after
	}
	stream, first := openWatch(t, g, &gatekeeperv1.WatchRequest{
		Names: []string{"pool", "other"}, Permits: true, Records: true, LiveEvery: durationpb.New(time.Second),
	})
	for {
		r := next(t, stream)
		if len(r.GetRecords()) == 0 {
			continue // only a live report
		}
		if len(r.GetRecords()) != 1 || r.GetRecords()[0].GetDefinition().GetName() != "pool" || r.GetRevision() != first.GetRevision() {
			t.Fatalf("message = %v, want pool's record at an unchanged revision", r)
		}
		break
	}
	p := g.grant(t, "other", "host")
	r := next(t, stream)
	for len(r.GetRecords()) == 0 {
		r = next(t, stream)
	}
	if r.GetRevision() != g.keeper.machine.State().Revision() || r.GetRecords()[0].GetHolder().GetToken() != p.Token {
		t.Fatalf("message after the grant = %v, want the record with token %d", r, p.Token)
	}
}

// A watcher that starts at a revision also receives the denials from before it opened the stream.
func TestWatch_FromRevision_SendsEarlierDenials(t *testing.T) {
	t.Parallel()
	g := open(t)
	g.create("pool", "other")
	g.keeper.denialsChanged = func(after uint64) ([]string, uint64) {
		if after == 0 {
			return []string{"pool"}, 1
		}
		return nil, after
	}
	stream, _ := openWatch(t, g, &gatekeeperv1.WatchRequest{
		Names: []string{"pool", "other"}, Records: true, LiveEvery: durationpb.New(time.Second),
		FromRevision: g.keeper.machine.State().Revision() + 1,
	})
	r := next(t, stream)
	for len(r.GetRecords()) == 0 {
		r = next(t, stream)
	}
	if len(r.GetRecords()) != 1 || r.GetRecords()[0].GetDefinition().GetName() != "pool" {
		t.Fatalf("first records = %v, want pool", r.GetRecords())
	}
}

func TestChanges_ContinuousChanges_AreSentOncePerSecond(t *testing.T) {
	t.Parallel()
	c, start := new(changes), time.Unix(1000, 0)
	now, sent := start, 0
	for now.Sub(start) < 10*time.Second { // the next change follows each message immediately
		c.schedule(now)
		now, sent = c.due, sent+1
		if sent == 1 && now.Sub(start) != collectFor {
			t.Errorf("first message due after %v, want collectFor", now.Sub(start))
		}
	}
	if want := 10 + collectBurst; sent < want-1 || sent > want+1 {
		t.Errorf("got %d messages in 10 seconds, want about %d", sent, want)
	}
	later := now.Add(time.Minute)
	if c.schedule(later); c.due.Sub(later) != collectFor {
		t.Errorf("message due %v after the first change in a minute, want collectFor", c.due.Sub(later))
	}
}
