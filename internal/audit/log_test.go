package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

func TestWrite_WritesAllFields(t *testing.T) {
	c := config(t)
	l := mustOpen(t, c)
	r := refusal()
	r.Time = time.Date(2026, 6, 1, 4, 0, 0, 5, time.FixedZone("", 2*3600))
	r.Via, r.Times = "gk2", 10
	l.Write(r)
	mustClose(t, l)
	lines := linesOf(t, c.Path)
	if len(lines) != 3 {
		t.Fatalf("got %d lines, want 3: started, the record and stopped", len(lines))
	}
	const want = `{"seq":2,"time":"2026-06-01T02:00:00.000000005Z","server":"gk1","cluster":"6f0c1d2e3a4b5c6d","principal":"shop","subjects":["cert:shop-1"],` +
		`"author":"alice","source":"192.0.2.7:41000","via":"gk2","method":"/gatekeeper.v1.OperatorService/Pause","request_id":"0198c0de",` +
		`"decision":"refused","reason":"operator","about":["nightly-export"],"times":10,"prev":"`
	if !strings.HasPrefix(lines[1], want) {
		t.Errorf("got  %s\nwant %s...", lines[1], want)
	}
	info, err := os.Stat(c.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got file mode %v (%v), want 0600", info.Mode(), err)
	}
}

func TestWrite_HostileText_WritesOneBoundedPrintableLine(t *testing.T) {
	c := config(t)
	l := mustOpen(t, c)
	hostile := []string{
		"a\nb\r\n{\"seq\":9}", "\x1b[2J\x00", "\xff\xfe", "\u0085\u2028\u202e\u009b31m", "\"}", "<script>&", strings.Repeat("ä", 1<<20), strings.Repeat("\x01", 1<<20),
	}
	for _, s := range hostile {
		many := make([]string, 100)
		for i := range many {
			many[i] = s
		}
		l.Write(Record{
			Principal: s, Subjects: many, Author: s, Source: s, Via: s, Method: s, RequestID: s, Decision: Decision(s), Reason: s, About: many,
		})
	}
	mustClose(t, l)
	wantIntact(t, c.Path, uint64(len(hostile)+2))
	lines := linesOf(t, c.Path)
	if len(lines) != len(hostile)+2 {
		t.Fatalf("got %d lines, want %d", len(lines), len(hostile)+2)
	}
	for _, text := range lines {
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || len(text) > maxLine {
			t.Errorf("got a line of %d bytes that is too long or malformed; valid JSON: %v", len(text), json.Valid([]byte(text)))
		}
		if strings.ContainsAny(text, "\x00\x01\x1b\x7f\u0085\u2028\u202e\u009b") {
			t.Errorf("got a line with unprintable characters: %.300q", text)
		}
	}
	parsed, err := parse([]byte(lines[1]))
	if err != nil || len(parsed.Subjects) != maxSubjects || parsed.SubjectsMore != 92 || len(parsed.About) != maxAbout || parsed.AboutMore != 68 ||
		parsed.Principal != hostile[0] {
		t.Errorf("parse() returned error %v and line %+v; want bounded lists", err, parsed)
	}
}

func TestWrite_DoesNotRetainCallerMemory(t *testing.T) {
	c := config(t)
	l := mustOpen(t, c)
	about := []string{"nightly-export"}
	l.Write(Record{About: about})
	about[0] = "changed"
	mustClose(t, l)
	if lines := linesOf(t, c.Path); !strings.Contains(lines[1], "nightly-export") {
		t.Error(lines[1])
	}
}

func TestLog_Nil_DoesNothing(t *testing.T) {
	var l *Log
	l.Write(refusal())
	if err := l.Close(); err != nil || l.Lost() != 0 {
		t.Error(err, l.Lost())
	}
}

func TestOpen_InvalidConfig_IsRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	writeLines(t, file, nil)
	for _, c := range []Config{{}, {Path: file, MaxBytes: -1}, {Path: file, Keep: -1}, {Path: filepath.Join(file, "below")}, {Path: dir}} {
		if l, err := Open(c); err == nil {
			mustClose(t, l)
			t.Errorf("Open(%+v) succeeded, want an error", c)
		}
	}
}

func TestOpen_SecondServer_IsRefused(t *testing.T) {
	c := config(t)
	l := mustOpen(t, c)
	if second, err := Open(c); err == nil || !strings.Contains(err.Error(), "another server is writing to it") {
		mustClose(t, second)
		t.Errorf("Open() of a log that is in use = %v, want an error", err)
	}
	// Between fork and exec, a child process has copies of all open files. They must not keep the log locked.
	found := runtime.GOOS != "linux" // other systems do not have this directory
	descriptors, _ := os.ReadDir("/proc/self/fd")
	for _, d := range descriptors {
		if target, _ := os.Readlink("/proc/self/fd/" + d.Name()); target == c.Path+".lock" {
			fd, err := strconv.Atoi(d.Name())
			if err != nil {
				t.Fatal(err)
			}
			copied, err := unix.Dup(fd)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(copied)
			found = true
		}
	}
	if !found {
		t.Error("the lock file is not open")
	}
	mustClose(t, l)
	mustClose(t, mustOpen(t, c))
	wantIntact(t, c.Path, 4)
}

func TestWrite_ConcurrentCallers_WritesAllRecords(t *testing.T) {
	c := config(t)
	c.MaxBytes, c.Keep = 100_000, 1000
	l := mustOpen(t, c)
	const callers, perCaller = 16, 500
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for j := range perCaller {
				r := refusal()
				r.RequestID = fmt.Sprint(i, "-", j)
				l.Write(r)
			}
		})
	}
	group.Wait()
	mustClose(t, l)
	r := wantIntact(t, c.Path, callers*perCaller+2)
	if len(r.Files) < 10 || len(r.Notes) != 0 {
		t.Errorf("got %d files with notes %v, want at least 10 files without notes", len(r.Files), r.Notes)
	}
}

func TestClose_DuringWrites_CountsLostRecords(t *testing.T) {
	c := config(t)
	l := mustOpen(t, c)
	const callers, perCaller = 8, 200
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range perCaller {
				l.Write(refusal())
			}
		})
	}
	mustClose(t, l)
	group.Wait()
	mustClose(t, l)
	r := mustVerify(t, c.Path)
	if !r.Intact() || r.Lines-2+l.Lost() != callers*perCaller {
		t.Errorf("%d lines were written and %d lost, want %d in total; breaks: %v", r.Lines-2, l.Lost(), callers*perCaller, r.Breaks)
	}
}

func TestRotation_KeepsNewestFilesAndChain(t *testing.T) {
	c := config(t)
	c.MaxBytes, c.Keep = 5000, 3
	for range 3 { // the chain must also continue across restarts
		for range 4 { // each batch fills one file
			makeLog(t, c, 30)
		}
	}
	r := mustVerify(t, c.Path)
	if !r.Intact() || len(r.Files) != 4 || r.Last != 12*30 || r.First == 1 {
		t.Fatalf("got report %+v, want an intact chain in 4 files, with the oldest lines removed", r)
	}
	wantFindings(t, "notes", r.Notes, Finding{Kind: Removed, Seq: r.First, Line: 1})
}

func TestRotation_NameTaken_KeepsExistingFile(t *testing.T) {
	c := config(t)
	c.MaxBytes = 1000
	var server logCapture
	c.Logger = server.logger()
	taken := rotatedName(c.Path, 1)
	writeLines(t, taken, []string{"precious"})
	// Move the file aside while opening the log, so that the chain starts at 1.
	if err := os.Rename(taken, taken+".aside"); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, c)
	if err := os.Rename(taken+".aside", taken); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		l.Write(refusal())
	}
	mustClose(t, l)
	if got := linesOf(t, taken); got[0] != "precious" {
		t.Error("the existing file was overwritten")
	}
	if server.count("already exists") != 1 {
		t.Error("the server's log does not report why rotation failed")
	}
	if err := os.Remove(taken); err != nil {
		t.Fatal(err)
	}
	wantIntact(t, c.Path, 102)
}

func TestRotation_RenameFails_FileStaysInUse(t *testing.T) {
	for failAt := 1; failAt <= 2; failAt++ {
		c := config(t)
		c.MaxBytes = 1000
		d := realDisk()
		renames := 0
		d.rename = func(from, to string) error {
			if renames++; renames == failAt {
				return errors.New("rename failed")
			}
			return os.Rename(from, to)
		}
		w := writer{Config: c.withDefaults(), disk: d}
		if _, err := w.resume(); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := w.append([]entry{refusal().bounded()}, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.file.Close(); err != nil {
			t.Fatal(err)
		}
		if r := wantIntact(t, c.Path, 20); len(r.Files) < 5 {
			t.Errorf("got %d files, want at least 5", len(r.Files))
		}
	}
}

// A crash between a rotation's two renames leaves no newest file.
func TestOpen_CrashDuringRotation_ContinuesChain(t *testing.T) {
	c := config(t)
	makeLog(t, c, 10)
	if err := errors.Join(os.Rename(c.Path, rotatedName(c.Path, 1)), os.WriteFile(c.Path+".next", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	makeLog(t, c, 5)
	if r := wantIntact(t, c.Path, 15); len(r.Files) != 2 {
		t.Errorf("got files %+v, want 2", r.Files)
	}
}

func TestOpen_TornLine_IsKeptAndReported(t *testing.T) {
	for _, cut := range []int{1, 20, 200} {
		c := config(t)
		makeLog(t, c, 10)
		data, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(c.Path, data[:len(data)-1-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r := wantIntact(t, c.Path, 9)
		wantFindings(t, "before a restart", r.Notes, Finding{Kind: Torn, Seq: 10, Line: 10})

		makeLog(t, c, 5)
		r = wantIntact(t, c.Path, 14)
		wantFindings(t, "after a restart", r.Notes, Finding{Kind: Torn, Seq: 10, Line: 10})
		if line := linesOf(t, c.Path)[9]; !strings.Contains(line, `"torn":"{\"s`) {
			t.Error("the torn line was not preserved:", line)
		}
	}
}

// After a crash, a file system may have extended the file with zeros.
func TestOpen_TornLineOfZeros_IsReported(t *testing.T) {
	c := config(t)
	makeLog(t, c, 10)
	f, err := openFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(make([]byte, 2*maxLine))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	makeLog(t, c, 5)
	wantFindings(t, "notes", wantIntact(t, c.Path, 15).Notes, Finding{Kind: Torn, Seq: 11, Line: 11})
}

func TestOpen_OnlyNewlineMissing_AddsIt(t *testing.T) {
	c := config(t)
	makeLog(t, c, 10)
	data, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path, data[:len(data)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	wantIntact(t, c.Path, 10)
	c.MaxBytes = 1 // the next line still goes to this file
	makeLog(t, c, 5)
	if r := wantIntact(t, c.Path, 15); len(r.Notes) != 0 {
		t.Error(r.Notes)
	}
}

func TestOpen_KilledBetweenLines_IsReported(t *testing.T) {
	c := config(t)
	makeLog(t, c, 10)
	writeLines(t, c.Path, linesOf(t, c.Path)[:9]) // without the stopped line
	makeLog(t, c, 5)
	wantFindings(t, "notes", wantIntact(t, c.Path, 14).Notes, Finding{Kind: Killed, Seq: 10, Line: 10})
}

func TestOpen_ServersKilledDuringWrites_LeaveIntactChain(t *testing.T) {
	c := config(t)
	const times = 4
	for range times {
		child := exec.Command(os.Args[0], "-test.run=^$")
		child.Env = append(os.Environ(), "AUDIT_WRITE_UNTIL_KILLED="+c.Path)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		output, err := bufio.NewReader(out).ReadString('\n')
		if err := errors.Join(err, child.Process.Kill()); err != nil || output != "rotated\n" {
			t.Error(output, err)
		}
		_ = child.Wait() // fails because the child was killed
	}
	mustClose(t, mustOpen(t, c))
	r := mustVerify(t, c.Path)
	killed := 0
	for _, n := range r.Notes {
		if n.Kind == Killed || n.Kind == Torn {
			killed++
		}
	}
	if !r.Intact() || killed != times || r.First != 1 {
		t.Errorf("got %d killed or torn findings, want %d; breaks: %v", killed, times, r.Breaks)
	}
}

// A crash leaves a line without a newline, so a restart must not treat a damaged line that ends in a newline as torn.
func TestOpen_ChangedLastLine_IsStillReportedAfterRestart(t *testing.T) {
	c := config(t)
	makeLog(t, c, 10)
	lines := linesOf(t, c.Path)
	lines[9] = strings.Replace(lines[9], "stopped", "started", 1)
	writeLines(t, c.Path, lines)
	makeLog(t, c, 5)
	wantFindings(t, "breaks", mustVerify(t, c.Path).Breaks, Finding{Kind: Changed, Seq: 10, Line: 10})
}

func TestWrite_DiskFull_CountsLostLinesAndContinuesChain(t *testing.T) {
	c := config(t)
	var server logCapture
	c.Logger = server.logger()
	var full fullDisk
	w := &Log{writer: writer{Config: c.withDefaults(), disk: full.disk()}}
	if _, err := w.writer.resume(); err != nil {
		t.Fatal(err)
	}
	batch := func(n int) []entry {
		out := make([]entry, n)
		for i := range out {
			out[i] = refusal().bounded()
		}
		return out
	}
	w.write(batch(3))
	full.set(true)
	w.write(batch(2))
	w.write(batch(5))
	full.set(false)
	w.write(batch(2))
	w.write(batch(1))
	if err := w.writer.file.Close(); err != nil {
		t.Fatal(err)
	}
	r := wantIntact(t, c.Path, 6)
	wantFindings(t, "notes", r.Notes, Finding{Kind: Lost, Seq: 4, Line: 4})
	if w.Lost() != 7 || !strings.Contains(r.Notes[0].Text, "7 lines") {
		t.Errorf("Lost() = %d, want 7 and a note that reports it: %s", w.Lost(), r.Notes[0].Text)
	}
	if n := server.count("being lost"); n != 1 {
		t.Errorf("the log reported %d errors within a minute, want 1", n)
	}
}

func TestWrite_DiskStaysFull_LogsOncePerMinute(t *testing.T) {
	c := config(t)
	synctest.Test(t, func(t *testing.T) {
		var server logCapture
		c.Logger = server.logger()
		full := fullDisk{full: true}
		l, err := open(c, full.disk())
		if err != nil {
			t.Fatal(err)
		}
		for range 5*60 + 30 {
			l.Write(refusal())
			<-time.After(time.Second)
		}
		mustClose(t, l)
		if n := server.count("being lost"); n != 6 {
			t.Errorf("the log reported %d errors in five and a half minutes, want 6", n)
		}
	})
}

func TestWrite_DiskHangs_WaitsOnceThenCountsLostLines(t *testing.T) {
	c := config(t)
	synctest.Test(t, func(t *testing.T) {
		d := realDisk()
		unblock := make(chan struct{})
		d.write = func(f *os.File, b []byte) (int, error) {
			<-unblock
			return f.Write(b)
		}
		close(unblock)
		l, err := open(c, d)
		if err != nil {
			t.Fatal(err)
		}
		unblock = make(chan struct{}) // synchronized with the goroutine through the queue
		const calls = queueLen + 2*batchLen
		start := time.Now()
		for range calls {
			l.Write(refusal())
		}
		if waited := time.Since(start); waited != writeTimeout {
			t.Errorf("callers waited for %v in total, want %v", waited, writeTimeout)
		}
		close(unblock)
		synctest.Wait()
		before := l.Lost()
		l.Write(refusal())
		mustClose(t, l)
		if before == 0 || l.Lost() != before {
			t.Errorf("Lost() = %d during the hang and %d after it, want the same positive number", before, l.Lost())
		}
		r := mustVerify(t, c.Path)
		if !r.Intact() || r.Lines+before != calls+3 {
			t.Errorf("%d lines were written and %d lost, want every call counted; breaks: %v", r.Lines, before, r.Breaks)
		}
	})
}

func TestWrite_SyncFails_ReportsOnce(t *testing.T) {
	c := config(t)
	synctest.Test(t, func(t *testing.T) {
		var server logCapture
		c.Logger = server.logger()
		d := realDisk()
		syncs := make(chan struct{}, 100)
		d.sync = func(*os.File) error { syncs <- struct{}{}; return errors.New("sync failed") }
		l, err := open(c, d)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			l.Write(refusal())
		}
		start := time.Now()
		<-syncs
		if after := time.Since(start); after != syncDelay {
			t.Errorf("the log synced after %v, want %v", after, syncDelay)
		}
		<-time.After(time.Minute / 2)
		if len(syncs) != 0 {
			t.Error("the log synced even though no lines had been written")
		}
		mustClose(t, l)
		if n := server.count("cannot be synced"); n != 1 {
			t.Errorf("the failure was logged %d times, want once", n)
		}
	})
}

func TestLog_FileMovedAway_StartsNewFile(t *testing.T) {
	c := config(t)
	aside := filepath.Join(t.TempDir(), "aside")
	synctest.Test(t, func(t *testing.T) {
		l := mustOpen(t, c)
		l.Write(refusal())
		synctest.Wait()
		if err := os.Rename(c.Path, aside); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * syncDelay)
		l.Write(refusal())
		mustClose(t, l)
	})
	if n := len(linesOf(t, aside)); n != 2 {
		t.Errorf("got %d lines in the moved file, want 2", n)
	}
	r := wantIntact(t, c.Path, 2)
	wantFindings(t, "notes", r.Notes, Finding{Kind: Removed, Seq: 3})
}

func TestLog_Anchors_AreLoggedAndValid(t *testing.T) {
	c := config(t)
	c.MaxBytes = 5000
	var server logCapture
	c.Logger = server.logger()
	synctest.Test(t, func(t *testing.T) {
		l := mustOpen(t, c)
		for range 40 { // enough lines for several rotations
			l.Write(refusal())
			synctest.Wait()
		}
		<-time.After(anchorInterval)
		l.Write(refusal())
		<-time.After(2 * syncDelay)
		mustClose(t, l)
	})
	var anchors []Anchor
	for line := range strings.Lines(server.b.String()) {
		if _, text, ok := strings.Cut(strings.TrimSpace(line), " anchor="); ok {
			a, err := ParseAnchor(text)
			if err != nil {
				t.Fatal(err)
			}
			anchors = append(anchors, a)
		}
	}
	if len(anchors) < 4 || anchors[len(anchors)-2].Seq != 42 || anchors[len(anchors)-1].Seq != 43 {
		t.Errorf("got anchors %v, want at least 4, the last two for lines 42 and 43", anchors)
	}
	if r := mustVerify(t, c.Path, anchors...); !r.Intact() {
		t.Error(r.Breaks)
	}
}

func TestFiles_OtherNames_AreIgnored(t *testing.T) {
	c := config(t)
	makeFiles(t, c, 3, 2)
	for _, suffix := range []string{".1", ".gz", ".00000000000000000000", ".0000000000000000000x", "x.00000000000000000001"} {
		writeLines(t, c.Path+suffix, []string{"other"})
	}
	if r := wantIntact(t, c.Path, 6); len(r.Files) != 3 {
		t.Error(r.Files)
	}
	if _, err := Verify(t.Context(), c.Path+"-none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func BenchmarkWrite(b *testing.B) {
	l := mustOpen(b, config(b))
	r := refusal()
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			l.Write(r)
		}
	})
	mustClose(b, l)
}
