package gktest

import (
	"io"
	"log/slog"
	"sync"
	"testing"
)

// logTo logs into the output of a test.
func logTo(t testing.TB, level slog.Level) *slog.Logger {
	o := &output{to: t.Output()}
	t.Cleanup(o.end)
	return slog.New(slog.NewTextHandler(o, &slog.HandlerOptions{Level: level}))
}

// output writes into the output of a test until that ends: a job that was left behind must not panic in another test.
type output struct {
	mu sync.Mutex // guards to
	to io.Writer  // nil after the end
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return len(p), nil
	}
	return o.to.Write(p)
}

func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.to = nil
}
