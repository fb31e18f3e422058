package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVerify_ReportsEachKindOfDamage(t *testing.T) {
	swap := func(i int) func([]string) []string {
		return func(l []string) []string { l[i], l[i+1] = l[i+1], l[i]; return l }
	}
	rewrite := func(lines []string, i int, from, to string) []string {
		text := strings.Replace(lines[i][:len(lines[i])-crcLen], from, to, 1)
		lines[i] = text + checksum([]byte(text))
		return lines
	}
	for _, c := range []struct {
		name   string
		change func(lines []string) []string // changes a log of ten lines
		want   []Finding
	}{
		{"nothing", func(l []string) []string { return l }, nil},
		{"a changed line", func(l []string) []string { l[4] = strings.Replace(l[4], "shop", "shup", 1); return l }, []Finding{{Kind: Changed, Seq: 5, Line: 5}}},
		{"a changed line with a correct checksum", func(l []string) []string { return rewrite(l, 4, "shop", "shup") }, []Finding{{Kind: Changed, Seq: 5, Line: 5}}},
		{"a changed first line with a correct checksum", func(l []string) []string { return rewrite(l, 0, "gk1", "gk2") }, []Finding{{Kind: Changed, Seq: 1, Line: 1}}},
		{"a changed last line", func(l []string) []string { l[9] = strings.Replace(l[9], "gk1", "gk2", 1); return l }, []Finding{{Kind: Changed, Seq: 10, Line: 10}}},
		{"two changed lines in a row", func(l []string) []string { l[3], l[4] = "x", ""; return l }, []Finding{{Kind: Changed, Seq: 4, Line: 4}, {Kind: Changed, Seq: 5, Line: 5}}},
		{"a missing line", func(l []string) []string { return slices.Delete(l, 4, 5) }, []Finding{{Kind: Missing, Seq: 5, Line: 5}}},
		{"missing lines", func(l []string) []string { return slices.Delete(l, 4, 7) }, []Finding{{Kind: Missing, Seq: 5, Line: 5}}},
		{"a changed line and a missing one", func(l []string) []string { l[3] = "x"; return slices.Delete(l, 4, 5) }, []Finding{{Kind: Changed, Seq: 4, Line: 4}, {Kind: Missing, Seq: 4, Line: 5}}},
		{"lines out of order", swap(4), []Finding{{Kind: Reordered, Seq: 5, Line: 6}}},
		{"the last lines out of order", swap(8), []Finding{{Kind: Reordered, Seq: 9, Line: 10}}},
		{"a line moved far down", func(l []string) []string { return append(slices.Delete(slices.Clone(l), 2, 3), l[2]) }, []Finding{{Kind: Reordered, Seq: 3, Line: 10}}},
		{"a line moved up", func(l []string) []string { return slices.Insert(slices.Delete(slices.Clone(l), 7, 8), 3, l[7]) },
			[]Finding{{Kind: Reordered, Seq: 4, Line: 5}, {Kind: Reordered, Seq: 5, Line: 6}, {Kind: Reordered, Seq: 6, Line: 7}, {Kind: Reordered, Seq: 7, Line: 8}}},
		{"one of three missing lines moved further down", func(l []string) []string {
			return append(slices.Delete(slices.Clone(l), 4, 7), l[5])
		}, []Finding{{Kind: Missing, Seq: 5, Line: 5}, {Kind: Missing, Seq: 7, Line: 5}, {Kind: Reordered, Seq: 6, Line: 8}}},
		{"a repeated line", func(l []string) []string { return slices.Insert(l, 5, l[4]) }, []Finding{{Kind: Repeated, Seq: 5, Line: 6}}},
		{"an inserted line", func(l []string) []string { return slices.Insert(l, 5, "{}") }, []Finding{{Kind: Changed, Seq: 6, Line: 6}}},
	} {
		cfg := config(t)
		makeLog(t, cfg, 10)
		writeLines(t, cfg.Path, c.change(linesOf(t, cfg.Path)))
		wantFindings(t, c.name, mustVerify(t, cfg.Path).Breaks, c.want...)
	}
}

func TestVerify_ReportsDamagedFiles(t *testing.T) {
	remove := func(name string) error { return os.Remove(name) }
	for _, c := range []struct {
		name   string
		change func(path string) error // changes a log whose files begin with lines 1, 4, 7 and 10
		breaks []Finding
		notes  []Finding
	}{
		{"nothing", func(string) error { return nil }, nil, nil},
		{"the oldest file is missing", func(p string) error { return remove(rotatedName(p, 1)) }, nil, []Finding{{Kind: Removed, Seq: 4, Line: 1}}},
		{"a file in the middle is missing", func(p string) error { return remove(rotatedName(p, 4)) }, []Finding{{Kind: Missing, Seq: 4, Line: 1}}, nil},
		{"the newest file is missing", func(p string) error { return remove(p) }, nil, nil},
		{"the beginning of the oldest file is missing", func(p string) error {
			name := rotatedName(p, 1)
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(name, data[bytes.IndexByte(data, '\n')+1:], 0o600)
		}, []Finding{{Kind: Cut, Seq: 2, Line: 1}}, nil},
		{"a file was renamed", func(p string) error { return os.Rename(rotatedName(p, 4), rotatedName(p, 3)) }, []Finding{{Kind: Changed, Seq: 4, Line: 1}}, nil},
		{"a file ends partway through a line", func(p string) error { return os.Truncate(rotatedName(p, 4), 600) }, []Finding{{Kind: Changed, Seq: 5, Line: 2}, {Kind: Missing, Seq: 5, Line: 1}}, nil},
	} {
		cfg := config(t)
		makeFiles(t, cfg, 4, 3)
		if err := c.change(cfg.Path); err != nil {
			t.Fatal(err)
		}
		r := mustVerify(t, cfg.Path)
		wantFindings(t, c.name, r.Breaks, c.breaks...)
		wantFindings(t, c.name, r.Notes, c.notes...)
	}
}

func TestVerify_AnchorMismatch_IsReported(t *testing.T) {
	cfg := config(t)
	makeFiles(t, cfg, 3, 4)
	anchor := func(seq uint64) Anchor {
		t.Helper()
		name := cfg.Path
		if seq <= 8 {
			name = rotatedName(cfg.Path, (seq-1)/4*4+1)
		}
		return Anchor{seq, hashOf([]byte(linesOf(t, name)[(seq-1)%4]))}
	}
	third, tenth, twelfth := anchor(3), anchor(10), anchor(12)
	if r := mustVerify(t, cfg.Path, third, tenth, twelfth); !r.Intact() || r.Anchor != twelfth.String() {
		t.Errorf("got breaks %v and anchor %s, want none and the anchor of line 12", r.Breaks, r.Anchor)
	}
	wantFindings(t, "a different hash", mustVerify(t, cfg.Path, Anchor{10, third.Hash}).Breaks, Finding{Kind: Changed, Seq: 10, Line: 2})

	writeLines(t, cfg.Path, linesOf(t, cfg.Path)[:2])
	wantFindings(t, "a truncated log", mustVerify(t, cfg.Path, tenth, twelfth).Breaks, Finding{Kind: Cut, Seq: 12, Line: 2})

	if err := os.Remove(rotatedName(cfg.Path, 1)); err != nil {
		t.Fatal(err)
	}
	wantFindings(t, "an anchor older than the log", mustVerify(t, cfg.Path, third).Breaks, Finding{Kind: Removed, Seq: 3})
}

func TestParseAnchor(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	if a, err := ParseAnchor("12:" + hash); err != nil || a != (Anchor{12, hash}) {
		t.Error(a, err)
	}
	for _, s := range []string{"", "12", ":" + hash, "0:" + hash, "-1:" + hash, "12:" + hash[1:], "12:" + hash + "0", "12:" + strings.ToUpper(hash)} {
		if _, err := ParseAnchor(s); err == nil {
			t.Errorf("ParseAnchor(%q) succeeded, want an error", s)
		}
	}
}

// verifyText verifies in-memory files. The last one is the newest.
func verifyText(t interface{ Fatal(args ...any) }, files ...[]byte) *Report {
	v := newVerifier(nil)
	for i, data := range files {
		if err := v.file(context.Background(), bytes.NewReader(data), fmt.Sprint("file", i), 0, i == len(files)-1); err != nil {
			t.Fatal(err)
		}
	}
	return v.end()
}

// A change to any byte is detected, even in the last line or in a newline.
func TestVerify_AnyChangedByte_IsDetected(t *testing.T) {
	cfg := config(t)
	makeLog(t, cfg, 12)
	data, err := os.ReadFile(cfg.Path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		bits := rapid.ByteRange(1, 255).Draw(t, "bits")
		changed := slices.Clone(data)
		changed[at] ^= bits
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		r := verifyText(t, changed)
		if r.Intact() || r.Breaks[0].Line != line {
			t.Fatalf("byte %d changed from %q to %q: got breaks %v, want one in line %d", at, data[at], changed[at], r.Breaks, line)
		}
	})
}

// Removing, moving or repeating complete lines is detected, unless lines are only removed from the beginning or the
// end.
func TestVerify_RemovedAndMovedLines_AreDetected(t *testing.T) {
	cfg := config(t)
	makeLog(t, cfg, 8)
	lines := bytes.SplitAfter(bytes.TrimSuffix(must(os.ReadFile(cfg.Path)), []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(slices.Clone(lines[len(lines)-1]), '\n')
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SliceOfN(rapid.IntRange(0, len(lines)-1), 0, 12).Draw(t, "order")
		var data []byte
		inOrder := true
		for i, n := range order {
			data = append(data, lines[n]...)
			inOrder = inOrder && n == order[0]+i
		}
		if r := verifyText(t, data); r.Intact() != inOrder {
			t.Fatalf("lines %v: Intact() = %v; breaks: %v", order, r.Intact(), r.Breaks)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func seal(data []byte) []byte {
	var out []byte
	for text := range bytes.Lines(data) {
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("}"))
		if at := len(text) - crcLen + 1; at > 0 && strings.HasPrefix(string(text[at:]), crcPrefix) {
			text = text[:at]
		}
		out = append(out, text...)
		out = append(out, checksum(text)+"\n"...)
	}
	return out
}

// Garbage must not cause a panic, and a log with damaged lines must not count as intact.
func FuzzVerify(f *testing.F) {
	cfg := config(f)
	makeLog(f, cfg, 4)
	data := must(os.ReadFile(cfg.Path))
	f.Add(data, data, false)
	f.Add(data, []byte(`{"seq":9,"event":"started","lost":1,"torn_bytes":5,"prev":""}`), true)
	f.Add(data[:len(data)-5], []byte("\n\n{}\n"), false)
	huge := line{Seq: 1<<64 - 1}
	var b bytes.Buffer
	huge.appendTo(&b)
	f.Add(b.Bytes(), data, true)
	f.Add(append(slices.Clone(data), b.Bytes()...), []byte("a"), true)
	f.Fuzz(func(t *testing.T, one, two []byte, sealed bool) {
		if sealed { // add correct checksums, so that the input gets past that check
			one, two = seal(one), seal(two)
		}
		checkGarbage(t, one, two)
	})
}

// checkGarbage checks that the report counts the complete lines, and that a log with any other lines is not intact.
func checkGarbage(t interface{ Fatal(args ...any) }, one, two []byte) {
	r := verifyText(t, one, two)
	whole := 0
	for _, file := range [][]byte{one, two} {
		for text := range bytes.Lines(file) {
			if _, err := parse(bytes.TrimSuffix(text, []byte("\n"))); err == nil {
				whole++
			}
		}
	}
	if r.Lines != uint64(whole) {
		t.Fatal("got", r.Lines, "lines, want", whole)
	}
	if r.Intact() && whole < bytes.Count(one, []byte("\n"))+bytes.Count(two, []byte("\n")) {
		t.Fatal("Verify() reported a log with damaged lines as intact")
	}
}

// This test is like FuzzVerify, but with correct checksums and with line numbers at the limits.
func TestVerify_AnyLineNumbers_AreCounted(t *testing.T) {
	aLine := rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 5).Draw(t, "garbage") == 0 {
			return rapid.String().Draw(t, "text") + "\n"
		}
		l := line{
			Seq:  rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64Range(1<<64-5, 1<<64-1), rapid.Uint64()).Draw(t, "seq"),
			Prev: rapid.SampledFrom([]string{"", "x", strings.Repeat("0", 64)}).Draw(t, "prev"), Event: rapid.SampledFrom([]string{"", eventStarted, eventStopped}).Draw(t, "event"),
			Lost: rapid.Uint64().Draw(t, "lost"), TornBytes: rapid.Int64().Draw(t, "torn"),
		}
		var b bytes.Buffer
		l.appendTo(&b)
		return b.String()
	})
	files := rapid.Custom(func(t *rapid.T) []byte {
		return []byte(strings.Join(rapid.SliceOfN(aLine, 0, 30).Draw(t, "lines"), ""))
	})
	rapid.Check(t, func(t *rapid.T) { checkGarbage(t, files.Draw(t, "one"), files.Draw(t, "two")) })
}
