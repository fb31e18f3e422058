package workload

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/loop"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newBatch() *Kind {
	return &Kind{
		Name:  "batch",
		Short: "change --edits definitions per caller in one batch; each definition counts as an operation, and latency is per batch",
		Edits: true,
		needs: func(s Settings) []*gatekeeperv1.Definition {
			var all []*gatekeeperv1.Definition
			for caller := range s.Callers {
				for i := range s.Edits {
					all = append(all, permits(batchName(caller, i), 1))
				}
			}
			return all
		},
		prepare: func(ctx context.Context, f *Fixture, callers int) (*Session, error) {
			editors := make([]*editor, callers)
			for caller := range editors {
				editors[caller] = newEditor(f, caller)
				for i := range f.Edits {
					editors[caller].add(batchName(caller, i))
				}
			}
			if err := forEach(callers, func(i int) error { return editors[i].read(ctx) }); err != nil {
				return nil, err
			}
			return &Session{Callers: callers, Call: func(ctx context.Context, turn loop.Turn) (int, error) {
				_, err := editors[turn.Caller].edit(ctx)
				return f.Edits, err
			}}, nil
		},
	}
}

func batchName(caller, i int) string { return "batch/" + strconv.Itoa(caller) + "/" + strconv.Itoa(i) }

// editor repeatedly changes the descriptions of a set of definitions, all in one batch.
type editor struct {
	fixture     *Fixture
	caller      int
	definitions []*gatekeeperv1.Definition
	n           int
	// versions holds the definitions' versions. It is nil if they must be read first.
	versions []uint64
}

func newEditor(f *Fixture, caller int) *editor { return &editor{fixture: f, caller: caller} }

func (e *editor) add(name string) {
	e.definitions = append(e.definitions, e.fixture.definitions[e.fixture.name(name)])
}

// edit submits one batch and returns its revision.
func (e *editor) edit(ctx context.Context) (uint64, error) {
	ctx, cancel := e.fixture.withTimeout(ctx)
	defer cancel()
	if e.versions == nil { // this is the first edit, or the last one failed
		if err := e.read(ctx); err != nil {
			return 0, err
		}
	}
	e.n++
	edits := make([]*gatekeeperv1.Edit, len(e.definitions))
	for i, d := range e.definitions {
		d = proto.CloneOf(d)
		d.Description = "edit " + strconv.Itoa(e.n)
		edits[i] = &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Replace{Replace: d}, ExpectedVersion: e.versions[i]}
	}
	r, err := e.fixture.client(e.caller).Definitions().BatchEdit(ctx, &gatekeeperv1.BatchEditRequest{
		Edits: edits, Author: e.fixture.Author, Reason: e.fixture.Reason, RequestId: client.NewRequestID(),
	})
	if err != nil {
		e.versions = nil // the edit may have taken effect
		return 0, err
	}
	for i := range e.versions {
		e.versions[i] = r.GetRevision() // a definition's version is the revision of its last edit
	}
	return r.GetRevision(), nil
}

// read reads the versions, before the first edit and after a failed one.
func (e *editor) read(ctx context.Context) error {
	versions := make([]uint64, len(e.definitions))
	for i, d := range e.definitions {
		callCtx, cancel := e.fixture.withTimeout(ctx)
		r, err := e.fixture.client(e.caller).Definitions().GetDefinition(callCtx, &gatekeeperv1.GetDefinitionRequest{Name: d.GetName()})
		cancel()
		if err != nil {
			return err
		}
		versions[i] = r.GetRecord().GetVersion()
	}
	e.versions = versions
	return nil
}

func newWatch() *Kind {
	const watched = "watched"
	return &Kind{
		Name:  "watch",
		Short: "one editor changes a definition and waits until all the callers watching it have received the event; watch/event is the time from the edit's response until each watcher receives the event",
		Edits: true,
		needs: func(Settings) []*gatekeeperv1.Definition { return []*gatekeeperv1.Definition{permits(watched, 1)} },
		prepare: func(ctx context.Context, f *Fixture, watchers int) (*Session, error) {
			w := &watch{editor: newEditor(f, 0), part: newPart("event"), events: make(chan watchEvent, watchers)}
			w.add(watched)
			if err := w.read(ctx); err != nil {
				return nil, err
			}
			ctx, cancel := context.WithCancel(ctx)
			for watcher := range watchers {
				w.running.Go(func() { w.listen(ctx, watcher) })
			}
			stop := func(context.Context) error {
				cancel()
				w.running.Wait()
				return nil
			}
			if err := w.ready(ctx, watchers); err != nil {
				_ = stop(ctx) // it always returns nil
				return nil, err
			}
			return &Session{Call: w.call, Callers: 1, Parts: []*Part{w.part}, close: stop}, nil
		},
	}
}

// watch holds an editor and the watchers of its edits.
type watch struct {
	*editor
	part    *Part
	events  chan watchEvent
	running sync.WaitGroup
	// last is the newest revision that each watcher has received. Only the editor accesses it.
	last []uint64
}

// watchEvent is an event received by a watcher.
type watchEvent struct {
	watcher  int
	revision uint64 // 0 means that the watch is established
	at       time.Time
	err      error
}

// listen watches until ctx ends.
func (w *watch) listen(ctx context.Context, watcher int) {
	send := func(h watchEvent) {
		h.watcher, h.at = watcher, time.Now()
		select {
		case w.events <- h:
		case <-ctx.Done():
		}
	}
	first := true
	names := []string{w.definitions[0].GetName()}
	for r, err := range w.fixture.client(watcher).Watch(ctx, &gatekeeperv1.WatchRequest{Names: names}) {
		switch {
		case err != nil:
			send(watchEvent{err: err})
			return
		case r.GetMissed():
			send(watchEvent{err: fmt.Errorf("watcher %d missed events", watcher)})
		case first:
			send(watchEvent{})
		}
		first = false
		for _, e := range r.GetEvents() {
			send(watchEvent{revision: e.GetRevision()})
		}
	}
}

// ready waits until every watch is established.
func (w *watch) ready(ctx context.Context, watchers int) error {
	ctx, cancel := w.fixture.withTimeout(ctx)
	defer cancel()
	for range watchers {
		select {
		case h := <-w.events:
			if h.err != nil {
				return h.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.last = make([]uint64, watchers)
	return nil
}

// call submits an edit and waits until every watcher has received it.
func (w *watch) call(ctx context.Context, _ loop.Turn) (int, error) {
	revision, err := w.edit(ctx)
	if err != nil {
		return 0, err
	}
	answered := time.Now()
	timer := time.NewTimer(w.fixture.Timeout)
	defer timer.Stop()
	for missing := len(w.last); missing > 0; {
		select {
		case h := <-w.events:
			if h.err != nil {
				return 0, h.err
			}
			if h.revision >= revision && w.last[h.watcher] < revision {
				w.part.Record(h.watcher, h.at.Sub(answered)) // 0 if the event arrived before the response
				missing--
			}
			w.last[h.watcher] = max(w.last[h.watcher], h.revision)
		case <-timer.C:
			return 0, fmt.Errorf("%d of %d watchers did not receive revision %d within %s", missing, len(w.last), revision, w.fixture.Timeout)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return 1, nil
}
