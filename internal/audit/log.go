package audit

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// Config configures a log.
type Config struct {
	// Path is the path of the newest file. Open creates its directory if necessary. Rotated files are in the same
	// directory.
	Path string
	// Server and Cluster are the ids recorded in each line.
	Server, Cluster string
	// MaxBytes is the size at which a file is rotated. The default is 64 MiB.
	MaxBytes int64
	// Keep is the number of rotated files to keep. The default is 15.
	Keep int
	// Logger receives errors and anchors. The default is slog.Default.
	Logger *slog.Logger
}

const (
	defaultMaxBytes = 64 << 20
	defaultKeep     = 15
	queueLen        = 4096
	batchLen        = 256

	syncDelay        = time.Second
	writeTimeout     = time.Second // how long a caller waits for a hung disk
	errorLogInterval = time.Minute
	anchorInterval   = time.Hour
)

func (c Config) withDefaults() Config {
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	if c.Keep == 0 {
		c.Keep = defaultKeep
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Log is an audit log that is open for writing. Its methods are safe for concurrent use. On a nil Log they do nothing.
type Log struct {
	queue     chan entry
	done      chan struct{}
	stalled   atomic.Bool   // a caller's wait timed out, and nothing has been taken from the queue since
	lost      atomic.Uint64 // lost lines not yet reported in a later line
	totalLost atomic.Uint64
	writer    writer // while run executes, only its goroutine uses the writer

	mu     sync.RWMutex // guards closed, and prevents a send on a closed queue
	closed bool
}

// Open opens or creates a log, repairs its end, and continues its chain. The caller must call Close.
func Open(c Config) (*Log, error) { return open(c, realDisk()) }

func open(c Config, d disk) (*Log, error) {
	if c.Path == "" || c.MaxBytes < 0 || c.Keep < 0 {
		return nil, fmt.Errorf("audit log: the path (%q) must not be empty, and the size (%d) and the number of files (%d) must not be negative", c.Path, c.MaxBytes, c.Keep)
	}
	c = c.withDefaults()
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	lock := flock.New(c.Path + ".lock") // the system releases the lock when the process exits
	if ok, err := lock.TryLock(); err != nil {
		return nil, fmt.Errorf("audit log %s: %w", c.Path, err)
	} else if !ok {
		return nil, fmt.Errorf("audit log %s: another server is writing to it: use a separate path for each server", c.Path)
	}
	l := &Log{queue: make(chan entry, queueLen), done: make(chan struct{})}
	l.writer = writer{Config: c, disk: d, lock: lock}
	started, err := l.writer.resume()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("audit log: %w", err), lock.Close())
	}
	l.write([]entry{started})
	go l.run()
	return l, nil
}

// Write appends a record. It blocks only while the queue is full, and for at most a second (see the package comment).
func (l *Log) Write(r Record) {
	if l == nil {
		return
	}
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	e := r.bounded()
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.closed && l.enqueue(e) {
		return
	}
	l.countLost(1)
}

func (l *Log) enqueue(e entry) bool {
	select {
	case l.queue <- e:
		return true
	default:
	}
	if l.stalled.Load() {
		return false
	}
	timeout := time.NewTimer(writeTimeout)
	defer timeout.Stop()
	select {
	case l.queue <- e:
		return true
	case <-timeout.C:
		l.stalled.Store(true)
		return false
	}
}

func (l *Log) countLost(n uint64) {
	l.lost.Add(n)
	l.totalLost.Add(n)
}

// Lost returns the number of lines lost since Open.
func (l *Log) Lost() uint64 {
	if l == nil {
		return 0
	}
	return l.totalLost.Load()
}

// Close writes and syncs the queued records and closes the log. Records passed to Write afterwards are counted as lost.
// A second Close does nothing.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	closed := l.closed
	if l.closed = true; !closed {
		close(l.queue)
	}
	l.mu.Unlock()
	<-l.done
	if closed {
		return nil
	}
	return l.writer.close()
}

// run writes the queued records until the queue is closed.
func (l *Log) run() {
	defer close(l.done)
	timer := time.NewTimer(syncDelay)
	timer.Stop()
	timerRunning := false
	batch := make([]entry, 0, batchLen)
	for {
		if l.writer.unsynced && !timerRunning {
			timer.Reset(syncDelay)
			timerRunning = true
		}
		select {
		case e, open := <-l.queue:
			if !open {
				l.write([]entry{{Record: Record{Time: time.Now()}, event: eventStopped}})
				return
			}
			batch = l.collect(append(batch[:0], e))
			l.stalled.Store(false)
			l.write(batch)
		case <-timer.C:
			timerRunning = false
			l.writer.tick()
		}
	}
}

// collect appends queued records to batch until the queue is empty or the batch is full.
func (l *Log) collect(batch []entry) []entry {
	for len(batch) < cap(batch) {
		select {
		case e, open := <-l.queue:
			if !open {
				return batch
			}
			batch = append(batch, e)
		default:
			return batch
		}
	}
	return batch
}

// write writes a batch, or counts its records as lost.
func (l *Log) write(batch []entry) {
	lost := l.lost.Swap(0)
	if err := l.writer.append(batch, lost); err != nil {
		l.lost.Add(lost)
		l.countLost(uint64(len(batch)))
		l.writer.logError("audit log lines are being lost: free up disk space or repair the disk", err, slog.Uint64("lost", l.Lost()))
	}
}

// disk holds the system calls that tests replace.
type disk struct {
	write  func(*os.File, []byte) (int, error)
	sync   func(*os.File) error
	rename func(from, to string) error
}

func realDisk() disk {
	return disk{write: (*os.File).Write, sync: (*os.File).Sync, rename: os.Rename}
}

var _ io.Closer = (*Log)(nil)
