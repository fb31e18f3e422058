package sim

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// serverLog receives the logs of servers and clients, and uses them to track which server leads.
type serverLog struct {
	mu     sync.Mutex // guards the fields below
	text   bytes.Buffer
	leads  string
	notes  map[string]int // number of lines by message
	writer slog.Handler
	onWon  func(server string)
}

// won sets the function that is called when a server has won an election, before the server acts on it. It may be nil.
func (t *serverLog) won(f func(server string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onWon = f
}

func newServerLog() *serverLog {
	t := &serverLog{notes: make(map[string]int)}
	t.writer = slog.NewTextHandler(&t.text, &slog.HandlerOptions{Level: slog.LevelInfo})
	return t
}

func (t *serverLog) leader() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leads
}

func (t *serverLog) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.text.Bytes())
}

// listener is one server's log handler. It passes everything on to the serverLog.
type listener struct {
	*serverLog
	with   slog.Handler
	server string
}

func (t *serverLog) logger() *slog.Logger { return slog.New(listener{t, t.writer, ""}) }

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
		l.serverLog.leads = l.server
	case "no longer leading":
		if l.serverLog.leads == l.server {
			l.serverLog.leads = ""
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
