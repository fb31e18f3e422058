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

// Log keeps the entries of a run in memory. It may be used from many goroutines.
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

// Entries are those so far.
func (l *Log) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.entries)
}

// Encode writes entries as lines of JSON.
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

// Decode reads what Encode has written. A last line that was cut off by the writer's death is left out.
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

// Recorder notes the calls of one client. It may be used from many goroutines.
type Recorder struct {
	client string
	now    func() time.Duration
	put    func(Entry)
	seq    atomic.Int64
}

// NewRecorder returns the recorder of a client, whose name nobody else may have. All recorders of a run share the clock
// now.
func NewRecorder(client string, now func() time.Duration, put func(Entry)) *Recorder {
	return &Recorder{client: client, now: now, put: put}
}

// Client is the client's name.
func (r *Recorder) Client() string { return r.client }

// Now reads the run's clock.
func (r *Recorder) Now() time.Duration { return r.now() }

// Call notes a request that is about to be sent. The answer is to be noted by the function that it returns, or never.
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

// Belief notes what the client believes.
func (r *Recorder) Belief(b Belief) {
	b.Client = r.client
	r.put(Entry{Belief: &b})
}
