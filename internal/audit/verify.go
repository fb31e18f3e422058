package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Anchor is the number and hash of a line that a log must contain.
type Anchor struct {
	Seq  uint64
	Hash string
}

// String formats the anchor as NUMBER:HASH, the form that ParseAnchor reads.
func (a Anchor) String() string { return strconv.FormatUint(a.Seq, 10) + ":" + a.Hash }

// ParseAnchor parses NUMBER:HASH, the form used in server logs and reports.
func ParseAnchor(s string) (Anchor, error) {
	number, hash, _ := strings.Cut(s, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return Anchor{}, fmt.Errorf("%q is not an anchor: it must consist of a line number, a colon and 64 hexadecimal digits", s)
	}
	return Anchor{seq, hash}, nil
}

// Kind classifies a finding.
type Kind string

// The kinds from Changed to Cut break the chain. The others are notes, except that an anchor older than the log is
// reported as a break of kind Removed.
const (
	Changed   Kind = "changed"   // a line differs from the one that was written
	Missing   Kind = "missing"   // lines or a whole file are missing
	Reordered Kind = "reordered" // a line is in the wrong place
	Repeated  Kind = "repeated"  // a line number occurs twice
	Cut       Kind = "cut"       // the beginning of a file or the end of the log is missing

	Removed Kind = "removed" // rotation removed earlier lines
	Torn    Kind = "torn"    // a server was killed while writing a line
	Killed  Kind = "killed"  // a server exited without writing its last line
	Lost    Kind = "lost"    // lines could not be written
)

// Finding is a problem with a line, or a note about it.
type Finding struct {
	Kind Kind   `json:"kind"`
	File string `json:"file"`
	// Line is the number of the line in its file, from 1.
	Line int `json:"line"`
	// Seq is the line's number in the log. For an unreadable line, it is the expected number.
	Seq  uint64 `json:"seq,string,omitempty"`
	Text string `json:"text"`
}

// String formats the finding as one line.
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// FileReport describes the contents of a file.
type FileReport struct {
	Name  string `json:"name"`
	Lines int    `json:"lines"`
	First uint64 `json:"first,string"`
	Last  uint64 `json:"last,string"`
}

// Report is the result of Verify.
type Report struct {
	Files []FileReport `json:"files"`
	Lines uint64       `json:"lines,string"`
	First uint64       `json:"first,string"`
	Last  uint64       `json:"last,string"`
	// From and To are the times of the first and last lines.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Anchor is the last line's anchor.
	Anchor string `json:"anchor,omitempty"`
	// Breaks are the places where the chain is broken. An intact chain has none.
	Breaks []Finding `json:"breaks"`
	// Notes are findings that do not break the chain.
	Notes []Finding `json:"notes"`
	// More is the number of findings that were omitted.
	More uint64 `json:"more,string,omitempty"`
}

// Intact reports whether the chain is unbroken.
func (r *Report) Intact() bool { return len(r.Breaks) == 0 }

const maxFindings = 1000

// Verify checks the chain across all files of the log whose newest file is at path, and checks that the log matches the
// anchors. The log may be in use. Verify returns an error if the log could not be read to its end, or the error from
// ctx.
func Verify(ctx context.Context, path string, anchors ...Anchor) (*Report, error) {
	path = filepath.Clean(path)
	for try := 0; ; try++ {
		names, err := files(path)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
		}
		report, err := verifyFiles(ctx, path, names, anchors)
		after, again := files(path)
		// The server may have rotated the log during the read.
		if again == nil && ctx.Err() == nil && !slices.Equal(names, after) && try < 10 {
			continue
		}
		return report, errors.Join(err, again)
	}
}

func verifyFiles(ctx context.Context, path string, names []string, anchors []Anchor) (*Report, error) {
	v := newVerifier(anchors)
	for i, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		err = errors.Join(v.file(ctx, f, name, firstSeq(path, name), i == len(names)-1), f.Close())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return v.end(), nil
}

// hole is a range of missing line numbers. The lines may still appear later.
type hole struct {
	from, to uint64
	at       place
	count    uint64 // missing lines; unreadable lines may account for the rest of the range
	boundary bool   // whether the hole is between two files
}

// place is the location of a finding.
type place struct{ file, line int }

type breakAt struct {
	Finding
	at place
}

// verifier checks a chain line by line.
type verifier struct {
	report  Report
	anchors map[uint64]string
	breaks  []breakAt
	holes   []hole

	at         place  // the current line
	last       uint64 // the highest number so far, 0 if none
	hash       string // hash of the line with the highest number
	lastAt     place
	event      string // event of the last readable line
	unreadable uint64 // number of unreadable lines since the line with the highest number
}

func newVerifier(anchors []Anchor) *verifier {
	v := &verifier{anchors: make(map[uint64]string), report: Report{Files: []FileReport{}, Breaks: []Finding{}, Notes: []Finding{}}}
	for _, a := range anchors {
		v.anchors[a.Seq] = a.Hash
	}
	return v
}

// file verifies one file. nameSeq is the number of its first line according to its name, or 0 for the newest file.
func (v *verifier) file(ctx context.Context, r io.Reader, name string, nameSeq uint64, newest bool) error {
	v.report.Files = append(v.report.Files, FileReport{Name: name})
	v.at = place{file: len(v.report.Files) - 1}
	lines := newLineReader(r)
	for {
		at, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		v.at.line++
		v.line(at, nameSeq, newest)
	}
}

// line checks one line.
func (v *verifier) line(at rawLine, nameSeq uint64, newest bool) {
	l, err := parse(at.text)
	if err == nil && at.bytes > int64(len(at.text)) {
		err = errors.New("it is too long")
	}
	switch {
	case err != nil && newest && !at.newline && !complete(at.text[:len(at.text)-1]):
		v.note(Torn, v.expected(), "the last line is incomplete: a server is writing it, or was killed and not restarted")
		return
	case err != nil:
		v.breakAt(Changed, v.at, v.expected(), "this line was changed: %v", err)
		v.unreadable++
		return
	}
	f := &v.report.Files[v.at.file]
	if f.Lines++; f.First == 0 {
		f.First = l.Seq
	}
	f.Last = l.Seq
	v.report.Lines++
	v.checkOrder(l, nameSeq, f.Lines == 1)
	v.notePrevious(l)
	if hash, ok := v.anchors[l.Seq]; ok && hash != at.hash {
		v.breakAt(Changed, v.at, l.Seq, "line %d does not match its anchor: the log was rewritten", l.Seq)
	}
	v.event = l.Event
	if l.Seq > v.last {
		v.last, v.hash, v.lastAt, v.unreadable = l.Seq, at.hash, v.at, 0
		v.report.To = l.Time
	}
}

// expected returns the number that the next line should have.
func (v *verifier) expected() uint64 {
	if v.last == 0 {
		return 0
	}
	return v.last + v.unreadable + 1 // 0 after the highest possible number
}

// checkOrder checks a line's number and its hash of the previous line.
func (v *verifier) checkOrder(l *line, nameSeq uint64, firstOfFile bool) {
	if v.last == 0 {
		v.report.First, v.report.From = l.Seq, l.Time
		switch {
		case v.misnamed(nameSeq, l.Seq):
			v.breakAt(Cut, v.at, l.Seq, "the file begins with line %d, but its name says %d: its beginning was cut off", l.Seq, nameSeq)
		case l.Seq == 1 && l.Prev != "":
			v.breakAt(Changed, v.at, l.Seq, "line 1 contains the hash of a previous line: it was changed")
		case l.Seq > 1 && l.Seq-1 > v.unreadable:
			v.note(Removed, l.Seq, "the log begins with line %d: rotation has removed the earlier lines", l.Seq)
		}
		return
	}
	if l.Seq <= v.last {
		v.recordMoved(l.Seq)
		return
	}
	if gap := l.Seq - v.last - 1; gap > v.unreadable {
		v.hole(hole{from: v.last + 1, to: l.Seq - 1, at: v.at, count: gap - v.unreadable, boundary: firstOfFile})
		return
	}
	if firstOfFile && v.misnamed(nameSeq, l.Seq) {
		v.breakAt(Changed, v.at, l.Seq, "the file begins with line %d, but its name says %d: it was renamed", l.Seq, nameSeq)
	}
	if l.Seq == v.last+1 && v.unreadable == 0 && l.Prev != v.hash {
		v.breakAt(Changed, v.lastAt, v.last, "line %d was changed: line %d contains a different hash for it", v.last, l.Seq)
	}
}

// misnamed reports whether the number in a file's name differs from the number of its first line. If the first lines
// are unreadable, any number that they could have is accepted.
func (v *verifier) misnamed(nameSeq, first uint64) bool {
	return nameSeq > first || nameSeq > 0 && first-nameSeq > v.unreadable
}

// recordMoved records a line that belongs further up.
func (v *verifier) recordMoved(seq uint64) {
	for i, h := range v.holes {
		if seq < h.from || seq > h.to {
			continue
		}
		v.breakAt(Reordered, v.at, seq, "line %d comes after line %d", seq, v.last)
		v.holes = slices.Delete(v.holes, i, i+1)
		if h.count--; h.count == 0 {
			return
		}
		below, above := h, h
		below.to, above.from = seq-1, seq+1
		switch seq {
		case h.from:
			v.holes = append(v.holes, above)
		case h.to:
			v.holes = append(v.holes, below)
		default:
			below.count = min(h.count, seq-h.from)
			if above.count = h.count - below.count; above.count > 0 {
				v.holes = append(v.holes, above)
			}
			v.holes = append(v.holes, below)
		}
		return
	}
	v.breakAt(Repeated, v.at, seq, "line %d is repeated after line %d", seq, v.last)
}

// notePrevious adds notes for anything that a line reports about earlier lines.
func (v *verifier) notePrevious(l *line) {
	if l.Lost > 0 {
		v.note(Lost, l.Seq, "%d lines before this one could not be written", l.Lost)
	}
	switch {
	case l.Event != eventStarted:
	case l.TornBytes > 0:
		v.note(Torn, l.Seq, "torn line of %d bytes: the server was killed during a write, and restarted at %s", l.TornBytes, l.Time)
	case v.last > 0 && v.event != eventStopped:
		v.note(Killed, l.Seq, "the server was killed, and restarted at %s: the last lines before that may not have been written", l.Time)
	}
}

func (v *verifier) full() bool {
	full := len(v.breaks)+len(v.holes)+len(v.report.Notes) >= maxFindings
	if full {
		v.report.More++
	}
	return full
}

func (v *verifier) hole(h hole) {
	// Always record the first break, even when the list of findings is full.
	if len(v.breaks)+len(v.holes) == 0 || !v.full() {
		v.holes = append(v.holes, h)
	}
}

func (v *verifier) breakAt(kind Kind, at place, seq uint64, format string, args ...any) {
	if len(v.breaks)+len(v.holes) == 0 || !v.full() {
		v.breaks = append(v.breaks, breakAt{v.finding(kind, at, seq, format, args...), at})
	}
}

func (v *verifier) note(kind Kind, seq uint64, format string, args ...any) {
	if !v.full() {
		v.report.Notes = append(v.report.Notes, v.finding(kind, v.at, seq, format, args...))
	}
}

func (v *verifier) finding(kind Kind, at place, seq uint64, format string, args ...any) Finding {
	return Finding{Kind: kind, File: v.report.Files[at.file].Name, Line: at.line, Seq: seq, Text: fmt.Sprintf(format, args...)}
}

// end returns the report after all files have been read.
func (v *verifier) end() *Report {
	for _, h := range v.holes {
		text := fmt.Sprintf("lines %d to %d are missing", h.from, h.to)
		switch {
		case h.count < h.to-h.from+1:
			text = fmt.Sprintf("%d of lines %d to %d are missing", h.count, h.from, h.to)
		case h.from == h.to:
			text = fmt.Sprintf("line %d is missing", h.from)
		}
		if h.boundary {
			text += " between this file and the previous one: either a file or the end of the previous file is missing"
		}
		v.breaks = append(v.breaks, breakAt{v.finding(Missing, h.at, h.from, "%s", text), h.at})
	}
	v.report.Last = v.last
	if v.last > 0 {
		v.report.Anchor = Anchor{v.last, v.hash}.String()
	}
	v.checkAnchors()
	slices.SortStableFunc(v.breaks, func(a, b breakAt) int {
		return cmp.Or(cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.Seq, b.Seq))
	})
	for _, f := range v.breaks {
		v.report.Breaks = append(v.report.Breaks, f.Finding)
	}
	return &v.report
}

// checkAnchors reports anchors for lines before the beginning or after the end of the log.
func (v *verifier) checkAnchors() {
	for _, seq := range slices.Sorted(maps.Keys(v.anchors)) {
		at := place{file: max(len(v.report.Files)-1, 0), line: v.at.line}
		switch {
		case len(v.report.Files) == 0:
		case seq > v.last:
			v.breaks = append(v.breaks, breakAt{v.finding(Cut, at, seq, "the log ends with line %d, but the anchor is for line %d: its end was cut off", v.last, seq), place{math.MaxInt, 0}})
		case seq < v.report.First:
			v.breaks = append(v.breaks, breakAt{v.finding(Removed, place{0, 1}, seq, "the anchor's line %d is older than the log and cannot be checked: use a later anchor", seq), place{}})
		}
	}
}
