package audit

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("AUDIT_WRITE_UNTIL_KILLED"); path != "" {
		writeUntilKilled(path)
	}
	goleak.VerifyTestMain(m)
}

// writeUntilKilled runs in a process that a test kills. It prints a line after the first rotation.
func writeUntilKilled(path string) {
	l, err := Open(Config{Path: path, Server: "gk1", MaxBytes: 1 << 20, Keep: 1000, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	for reported := false; ; {
		l.Write(refusal())
		if names, _ := rotatedFiles(path); len(names) > 0 && !reported {
			fmt.Fprintln(os.Stdout, "rotated")
			reported = true
		}
	}
}

// config returns a config for a log in a temporary directory, with a logger that discards all messages.
func config(t testing.TB) Config {
	return Config{
		Path: filepath.Join(t.TempDir(), "audit.log"), Server: "gk1", Cluster: "6f0c1d2e3a4b5c6d",
		Logger: slog.New(slog.DiscardHandler),
	}
}

func mustOpen(t testing.TB, c Config) *Log {
	t.Helper()
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// refusal returns a record of typical length.
func refusal() Record {
	return Record{
		Principal: "shop", Subjects: []string{"cert:shop-1"}, Author: "alice", Source: "192.0.2.7:41000", Method: "/gatekeeper.v1.OperatorService/Pause",
		RequestID: "0198c0de", Decision: Refused, Reason: "operator", About: []string{"nightly-export"},
	}
}

// makeLog writes a log with the given number of lines, including the two lines that the log writes itself.
func makeLog(t testing.TB, c Config, lines int) {
	t.Helper()
	l := mustOpen(t, c)
	for range lines - 2 {
		l.Write(refusal())
	}
	mustClose(t, l)
}

// makeFiles is like makeLog, but rotates after every perFile lines.
func makeFiles(t testing.TB, c Config, files, perFile int) {
	t.Helper()
	w := writer{Config: c, disk: realDisk()}
	w.Keep, w.MaxBytes = files, 1
	if _, err := w.resume(); err != nil {
		t.Fatal(err)
	}
	for range files {
		batch := make([]entry, perFile)
		for i := range batch {
			batch[i] = refusal().bounded()
		}
		if err := w.append(batch, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustVerify(t testing.TB, path string, anchors ...Anchor) *Report {
	t.Helper()
	r, err := Verify(t.Context(), path, anchors...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantIntact checks that the chain is intact and has the given number of lines.
func wantIntact(t testing.TB, path string, lines uint64) *Report {
	t.Helper()
	r := mustVerify(t, path)
	if !r.Intact() || r.Lines != lines {
		t.Fatalf("got %d lines, want %d; breaks: %v", r.Lines, lines, r.Breaks)
	}
	return r
}

// wantFindings checks the kinds and line numbers of the findings, in order.
func wantFindings(t testing.TB, what string, got []Finding, want ...Finding) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = got[i].Kind == want[i].Kind && got[i].Seq == want[i].Seq && (want[i].Line == 0 || got[i].Line == want[i].Line) &&
			(want[i].File == "" || got[i].File == want[i].File)
	}
	if !ok {
		t.Errorf("%s: got findings\n  %v, want\n  %v", what, got, want)
	}
}

// linesOf returns the lines of a file without their newlines.
func linesOf(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func writeLines(t testing.TB, name string, lines []string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fullDisk is a disk that writes only half of the data while it is full.
type fullDisk struct {
	mu   sync.Mutex
	full bool
}

func (d *fullDisk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *fullDisk) disk() disk {
	out := realDisk()
	out.write = func(f *os.File, b []byte) (int, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.full {
			return f.Write(b)
		}
		n, err := f.Write(b[:len(b)/2])
		return n, errors.Join(err, syscall.ENOSPC)
	}
	return out
}

// logCapture captures a server's log.
type logCapture struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logCapture) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logCapture) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

func (l *logCapture) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
