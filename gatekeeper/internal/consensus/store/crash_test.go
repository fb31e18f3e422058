package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// sector is the number of bytes that a disk writes atomically, even during a power loss.
const sector = 512

// model is the expected content of the log and the stable store.
type model struct {
	entries []raft.Log
	values  map[string]string
}

func (m model) clone() model {
	return model{entries: slices.Clone(m.entries), values: maps.Clone(m.values)}
}

// next returns the index of the next entry.
func (m model) next() uint64 {
	if len(m.entries) == 0 {
		return 1
	}
	return m.entries[len(m.entries)-1].Index + 1
}

// step performs a random write, as Raft would, on both the files and the model.
func (m *model) step(random *rand.Rand, o opened) (what string, err error) {
	term := uint64(1)
	if n := len(m.entries); n > 0 {
		term = m.entries[n-1].Term + uint64(random.IntN(2))
	}
	switch n := len(m.entries); {
	case n > 0 && random.IntN(12) == 0: // a snapshot trims the front
		cut := 1 + random.IntN(n)
		first, last := m.entries[0].Index, m.entries[cut-1].Index
		m.entries = slices.Clone(m.entries[cut:])
		return fmt.Sprintf("delete %d to %d", first, last), o.log.DeleteRange(first, last)
	case n > 0 && random.IntN(8) == 0: // another leader overwrites the tail
		cut := n - 1 - random.IntN(min(n, 20))
		first, last := m.entries[cut].Index, m.entries[n-1].Index
		m.entries = slices.Clone(m.entries[:cut])
		return fmt.Sprintf("delete %d to %d", first, last), o.log.DeleteRange(first, last)
	case random.IntN(4) == 0:
		key, val := "CurrentTerm", make([]byte, 8)
		if random.IntN(2) == 0 {
			key, val = keyVote, make([]byte, 8+random.IntN(40))
		}
		for i := range val {
			val[i] = byte(random.Uint32())
		}
		m.values[key] = string(val)
		return "set " + key, o.values.Set([]byte(key), val)
	}
	var logs []*raft.Log
	next := m.next()
	for i := range 1 + random.IntN(30) {
		size := random.IntN(300)
		if random.IntN(20) == 0 {
			size = random.IntN(20_000) // more than a page
		}
		log := raft.Log{Index: next + uint64(i), Term: term, Data: bytes.Repeat([]byte{byte(random.Uint32())}, 1+size)}
		logs = append(logs, &log)
		m.entries = append(m.entries, log)
	}
	return fmt.Sprintf("store %d to %d", next, m.next()-1), o.log.StoreLogs(logs)
}

// diff opens the files with openReader and returns an error for the first difference from the model.
func (m model) diff(dir string, asRecover bool) (err error) {
	o, err := openReader(dir, asRecover)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	first, errFirst := o.log.FirstIndex()
	last, errLast := o.log.LastIndex()
	if err := errors.Join(errFirst, errLast); err != nil {
		return err
	}
	if len(m.entries) == 0 && (first != 0 || last != 0) {
		return fmt.Errorf("the log contains entries %d to %d, want none", first, last)
	}
	if len(m.entries) > 0 && (first != m.entries[0].Index || last != m.next()-1) {
		return fmt.Errorf("the log contains entries %d to %d, want %d to %d", first, last, m.entries[0].Index, m.next()-1)
	}
	for _, want := range m.entries {
		var got raft.Log
		if err := o.log.GetLog(want.Index, &got); err != nil || got.Term != want.Term || !bytes.Equal(got.Data, want.Data) {
			return errors.Join(fmt.Errorf("entry %d differs", want.Index), err)
		}
	}
	for key, want := range m.values {
		if got, err := o.values.Get([]byte(key)); err != nil || string(got) != want {
			return errors.Join(fmt.Errorf("the value of %s is %q, want %q", key, got, want), err)
		}
	}
	return nil
}

// crash holds the file's contents before and after a single write. bbolt extends the file and writes, in any order,
// pages that no valid header refers to. It syncs them, and then overwrites the older of the two headers.
type crash struct {
	before, after []byte
	pageSize      int
	header        int   // the page number of the header that was written
	written       []int // the numbers of the other pages that were written
}

func newCrash(before, after []byte) (c crash, err error) {
	c = crash{before: before, after: after, pageSize: os.Getpagesize(), header: -1}
	for at := 0; at < len(after); at += c.pageSize {
		end := min(at+c.pageSize, len(after))
		var prev []byte
		if at < len(before) {
			prev = before[at:min(end, len(before))]
		}
		switch page := at / c.pageSize; {
		case bytes.Equal(after[at:end], prev):
		case page > 1:
			c.written = append(c.written, page)
		case c.header >= 0:
			return c, errors.New("both headers were written")
		default:
			c.header = page
		}
	}
	if c.header < 0 {
		return c, errors.New("no header was written")
	}
	return c, nil
}

// withSomePages returns the file as a crash would leave it after only some of the pages were written, a few of them
// partially. If grown is set, the file had already been extended.
func (c crash) withSomePages(random *rand.Rand, grown bool) []byte {
	data := bytes.Clone(c.before)
	if grown && len(c.after) > len(data) {
		data = append(data, make([]byte, len(c.after)-len(data))...)
	}
	for _, page := range c.written {
		from, to := page*c.pageSize, (page+1)*c.pageSize
		switch {
		case to > len(data), random.IntN(2) == 0: // not written
			continue
		case random.IntN(3) == 0:
			to = from + sector*random.IntN(c.pageSize/sector)
		}
		copy(data[from:to], c.after[from:])
	}
	return data
}

// withTornHeader returns the file with all pages written, but only the first headerBytes bytes of the header.
func (c crash) withTornHeader(headerBytes int) []byte {
	data := bytes.Clone(c.after)
	at := c.header * c.pageSize
	copy(data[at+headerBytes:at+c.pageSize], c.before[at+headerBytes:])
	return data
}

// crashSeed returns a test's random source and number of writes, and logs the seed so that the run can be repeated.
func crashSeed(t *testing.T) (random *rand.Rand, writes int) {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("GATEKEEPER_CRASH_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("GATEKEEPER_CRASH_SEED=%d", seed)
	if testing.Short() {
		return rand.New(rand.NewPCG(seed, 1)), 60
	}
	return rand.New(rand.NewPCG(seed, 1)), 300
}

// markAfterCrash returns the mark that a crash during a write leaves behind. The mark is updated after entries are
// stored and before entries are deleted.
func markAfterCrash(before, current model, oldMark, newMark []byte) []byte {
	if len(current.entries) > len(before.entries) {
		return oldMark
	}
	return newMark
}

// After a crash at any point during a write, the file can be opened and has its content from before or after the write.
// Opening a file also writes to it.
func TestOpen_CrashDuringWrite_HasContentFromBeforeOrAfter(t *testing.T) {
	t.Parallel()
	random, writes := crashSeed(t)
	dir, other := t.TempDir(), t.TempDir()
	path, markPath := filepath.Join(dir, RaftFile), filepath.Join(dir, intact.MarkFile)
	checkOpens := func(what string, data, mark []byte, want model) {
		t.Helper()
		writeFiles(t, other, data, mark)
		if err := want.diff(other, false); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	b, err := openAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	current := model{values: make(map[string]string)}
	file, marked, grown := mustRead(t, path), mustRead(t, markPath), 0
	checkCrashes := func(what string, before model) {
		t.Helper()
		c, err := newCrash(file, mustRead(t, path))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(c.after) > len(c.before) {
			grown++
		}
		after := mustRead(t, markPath)
		mark := markAfterCrash(before, current, marked, after)
		checkOpens(what+": some pages", c.withSomePages(random, true), mark, before)
		checkOpens(what+": some pages, file not extended", c.withSomePages(random, false), mark, before)
		checkOpens(what+": all pages, but no header", c.withTornHeader(0), mark, before)
		checkOpens(what+": part of the header", c.withTornHeader(sector*(1+random.IntN(c.pageSize/sector))), mark, current)
		if random.IntN(10) == 0 {
			checkOpens(what+": complete write", c.after, after, current)
		}
		file, marked = c.after, after
	}
	for i := range writes {
		before := current.clone()
		what, err := current.step(random, b)
		if err != nil {
			t.Fatalf("write %d, %s: %v", i, what, err)
		}
		what = fmt.Sprintf("write %d, %s", i, what)
		checkCrashes(what, before)
		if random.IntN(25) == 0 { // continue with the reopened file
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			reopened, err := openAt(dir)
			if err != nil {
				t.Fatalf("%s, then reopened: %v", what, err)
			}
			b = reopened
			checkCrashes(what+", then reopened", current)
		}
	}
	if grown == 0 {
		t.Error("the file was never extended")
	}
}

// This test tears the header write at every sector boundary, and also at every byte of the first sector, for disks that
// do not write sectors atomically. On such a disk, a torn header cannot be distinguished from one that was corrupted
// later, and a server that used the older header could lose a vote.
func TestOpen_TornHeader_IsDamagedOrHarmless(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	b, err := openAt(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	path, markPath := filepath.Join(dir, RaftFile), filepath.Join(dir, intact.MarkFile)
	random := rand.New(rand.NewPCG(1, 1))
	current := model{values: make(map[string]string)}
	for range 2 { // one write for each of the two headers
		before, file, marked := current.clone(), mustRead(t, path), mustRead(t, markPath)
		if _, err := current.step(random, b); err != nil {
			t.Fatal(err)
		}
		c, err := newCrash(file, mustRead(t, path))
		if err != nil {
			t.Fatal(err)
		}
		mark := markAfterCrash(before, current, marked, mustRead(t, markPath))
		refused := 0
		for n := 0; n <= c.pageSize; n++ {
			if n > sector && n%sector != 0 {
				continue
			}
			writeFiles(t, other, c.withTornHeader(n), mark)
			errBefore, errAfter := before.diff(other, true), current.diff(other, true)
			switch {
			case errBefore == nil && n < sector, errAfter == nil && n > 0:
			case errors.Is(errBefore, ErrDamaged) && n < sector:
				refused++
			default:
				t.Errorf("%d bytes of header %d: %v", n, c.header, errors.Join(errBefore, errAfter))
			}
		}
		if refused == 0 {
			t.Error("no torn header was refused")
		}
	}
}
