package consensus

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// raftLogger returns a logger for Raft that writes to logger.
func raftLogger(logger *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "raft", Level: hclog.Off, Output: io.Discard})
	l.RegisterSink(&logSink{logger: logger.With("from", "raft"), last: make(map[string]time.Time)})
	return l
}

// logSink forwards log lines. Raft repeats warnings about an unreachable peer several times a second. Each warning
// keeps its level at most once every ten seconds. Repetitions are logged at debug level.
type logSink struct {
	logger *slog.Logger

	mu   sync.Mutex // guards last
	last map[string]time.Time
}

const repeatInterval = 10 * time.Second

func (s *logSink) Accept(_ string, level hclog.Level, msg string, args ...any) {
	slogLevel := map[hclog.Level]slog.Level{hclog.Info: slog.LevelInfo, hclog.Warn: slog.LevelWarn, hclog.Error: slog.LevelError}[level]
	if level <= hclog.Debug {
		slogLevel = slog.LevelDebug
	}
	if !s.logger.Enabled(context.Background(), slogLevel) {
		return
	}
	attrs := make([]any, len(args))
	peerID := ""
	for i, arg := range args {
		if f, ok := arg.(hclog.Format); ok && len(f) > 0 {
			arg = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
		if i%2 == 1 && args[i-1] == "peer" {
			peerID = fmt.Sprint(arg)
		}
		attrs[i] = arg
		if i%2 == 1 {
			attrs[i] = readable(arg)
		}
	}
	if slogLevel >= slog.LevelWarn && !s.shouldWarn(msg+peerID) {
		slogLevel = slog.LevelDebug
	}
	s.logger.Log(context.Background(), slogLevel, msg, attrs...)
}

// readable formats a value for a human reader in any log format. Raft passes whole structures, including itself, which
// a JSON handler would spell out field by field.
func readable(value any) any {
	switch v := value.(type) {
	case raft.Server:
		return fmt.Sprintf("%s at %s (%s)", v.ID, v.Address, strings.ToLower(v.Suffrage.String()))
	case error, time.Time, time.Duration, slog.LogValuer:
		return v
	case fmt.Stringer:
		return v.String()
	}
	switch reflect.ValueOf(value).Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Func, reflect.Chan:
		return fmt.Sprintf("%+v", value)
	default:
		return value
	}
}

// shouldWarn reports whether this is the first time in repeatInterval that Raft logs the warning.
func (s *logSink) shouldWarn(complaint string) bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, at := range s.last {
		if now.Sub(at) >= repeatInterval {
			delete(s.last, c)
		}
	}
	_, seen := s.last[complaint]
	if !seen {
		s.last[complaint] = now
	}
	return !seen
}
