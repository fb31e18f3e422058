package sim

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// told takes what servers and clients log, and reads in it who leads.
type told struct {
	mu     sync.Mutex // guards what follows
	text   bytes.Buffer
	leads  string
	notes  map[string]int // lines by what they say
	writer slog.Handler
	onWon  func(server string)
}

// won has f called by each server that has won an election, before it does anything about it; nil: no more.
func (t *told) won(f func(server string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onWon = f
}

func newTold() *told {
	t := &told{notes: make(map[string]int)}
	t.writer = slog.NewTextHandler(&t.text, &slog.HandlerOptions{Level: slog.LevelInfo})
	return t
}

func (t *told) leader() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leads
}

func (t *told) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.text.Bytes())
}

// listener is the told as one server's logger.
type listener struct {
	*told
	with   slog.Handler
	server string
}

func (t *told) logger() *slog.Logger { return slog.New(listener{t, t.writer, ""}) }

func (l listener) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l listener) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.Message {
	case "election won":
		if l.onWon != nil {
			l.onWon(l.server)
		}
	case "leading":
		l.told.leads = l.server
	case "no longer leading":
		if l.told.leads == l.server {
			l.told.leads = ""
		}
	}
	l.notes[r.Message]++
	return l.with.Handle(ctx, r)
}

func (l listener) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.with = l.with.WithAttrs(attrs)
	for _, a := range attrs {
		if a.Key == "server" {
			l.server = a.Value.String()
		}
	}
	return l
}

func (l listener) WithGroup(name string) slog.Handler {
	l.with = l.with.WithGroup(name)
	return l
}
