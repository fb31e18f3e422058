package gktest

import (
	"io"
	"log/slog"
	"sync"
	"testing"
)

// logTo returns a logger that writes to a test's output.
func logTo(t testing.TB, level slog.Level) *slog.Logger {
	o := &output{to: t.Output()}
	t.Cleanup(o.stop)
	return slog.New(slog.NewTextHandler(o, &slog.HandlerOptions{Level: level}))
}

// output writes to a test's output until the test ends. After that it discards the text, because a job that is still
// running must not make another test panic.
type output struct {
	mu sync.Mutex // guards to
	to io.Writer  // nil once the test has ended
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return len(p), nil
	}
	return o.to.Write(p)
}

func (o *output) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = nil
}
