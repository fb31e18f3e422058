package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Log keeps the entries of a run in memory. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex // guards entries
	entries []Entry
}

// Put adds an entry.
func (l *Log) Put(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
}

// Entries returns the entries added so far.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.entries)
}

// Encode writes entries as JSON, one per line.
func Encode(w io.Writer, entries []Entry) error {
	buffered := bufio.NewWriter(w)
	lines := json.NewEncoder(buffered)
	for _, e := range entries {
		if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// Decode reads the output of Encode. It ignores an incomplete last line, which a killed writer leaves behind.
func Decode(r io.Reader) ([]Entry, error) {
	var entries []Entry
	lines := json.NewDecoder(r)
	for {
		var e Entry
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the history: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
	}
}

// Recorder records the calls of one client. It is safe for concurrent use.
type Recorder struct {
	client string
	now    func() time.Duration
	put    func(Entry)
	seq    atomic.Int64
}

// NewRecorder returns a recorder for a client with a unique name. All recorders of a run must share the clock now.
func NewRecorder(client string, now func() time.Duration, put func(Entry)) *Recorder {
	return &Recorder{client: client, now: now, put: put}
}

// Client returns the client's name.
func (r *Recorder) Client() string { return r.client }

// Now reads the run's clock.
func (r *Recorder) Now() time.Duration { return r.now() }

// Call records a request that is about to be sent. The returned function records the response and must be called at
// most once.
func (r *Recorder) Call(request Request) func(Outcome, Response, error) {
	seq := r.seq.Add(1)
	r.put(Entry{Call: &Call{Client: r.client, Seq: seq, At: r.now(), Request: request}})
	return func(outcome Outcome, response Response, err error) {
		ret := &Return{Client: r.client, Seq: seq, At: r.now(), Outcome: outcome, Response: response}
		if err != nil {
			ret.Error = err.Error()
		}
		r.put(Entry{Return: ret})
	}
}

// Belief records one of the client's beliefs.
func (r *Recorder) Belief(b Belief) {
	b.Client = r.client
	r.put(Entry{Belief: &b})
}
