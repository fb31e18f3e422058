package sim

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// serverLog collects the logs of servers and clients, and tracks the current leader.
type serverLog struct {
	mu            sync.Mutex // guards the fields below
	text          bytes.Buffer
	leaderID      string
	messageCounts map[string]int // number of lines by message
	handler       slog.Handler
	onElectionWon func(server string)
}

// setOnElectionWon sets a function to be called when a server has won an election, before the server acts as the
// leader. The function may be nil.
func (t *serverLog) setOnElectionWon(f func(server string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onElectionWon = f
}

func newServerLog() *serverLog {
	t := &serverLog{messageCounts: make(map[string]int)}
	t.handler = slog.NewTextHandler(&t.text, &slog.HandlerOptions{Level: slog.LevelInfo})
	return t
}

func (t *serverLog) leader() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.leaderID
}

func (t *serverLog) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.text.Bytes())
}

// logHandler is one server's log handler. It forwards all records to the serverLog.
type logHandler struct {
	*serverLog
	next   slog.Handler
	server string
}

func (t *serverLog) logger() *slog.Logger { return slog.New(logHandler{t, t.handler, ""}) }

func (l logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (l logHandler) Handle(ctx context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.Message {
	case "election won":
		if l.onElectionWon != nil {
			l.onElectionWon(l.server)
		}
	case "leading":
		l.serverLog.leaderID = l.server
	case "no longer leading":
		if l.serverLog.leaderID == l.server {
			l.serverLog.leaderID = ""
		}
	}
	l.messageCounts[r.Message]++
	return l.next.Handle(ctx, r)
}

func (l logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.next = l.next.WithAttrs(attrs)
	for _, a := range attrs {
		if a.Key == "server" {
			l.server = a.Value.String()
		}
	}
	return l
}

func (l logHandler) WithGroup(name string) slog.Handler {
	l.next = l.next.WithGroup(name)
	return l
}
