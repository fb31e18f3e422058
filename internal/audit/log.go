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

// Config is how a log is kept.
type Config struct {
	// Path is the newest file. Its folder is made if it is not there. Rotated files stand beside it.
	Path string
	// Server and Cluster are ids that each line has.
	Server, Cluster string
	// MaxBytes is the size beyond which a file is rotated. Default 64 MiB.
	MaxBytes int64
	// Keep is how many rotated files are kept. Default 15.
	Keep int
	// Logger takes what goes wrong, and the anchors. Default slog.Default.
	Logger *slog.Logger
}

const (
	defaultMaxBytes = 64 << 20
	defaultKeep     = 15
	queueLen        = 4096
	batchLen        = 256

	syncAfter     = time.Second
	patience      = time.Second // how long a caller waits for a disk that hangs
	complainEvery = time.Minute
	anchorEvery   = time.Hour
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

// Log is an audit log that is open for writing. Its methods may be called from any goroutine; those of the nil Log do
// nothing.
type Log struct {
	queue   chan entry
	ended   chan struct{}
	stalled atomic.Bool   // a caller has waited in vain, and nothing was taken from the queue since
	lost    atomic.Uint64 // lines that no line has mentioned yet
	allLost atomic.Uint64
	writer  writer // of the goroutine in run

	mu     sync.RWMutex // guards closed, and that nothing is sent on a closed queue
	closed bool
}

// Open opens a log or creates it, repairs its end, and continues its chain. Close must follow.
func Open(c Config) (*Log, error) { return open(c, realDisk()) }

func open(c Config, d disk) (*Log, error) {
	if c.Path == "" || c.MaxBytes < 0 || c.Keep < 0 {
		return nil, fmt.Errorf("audit log: the path %q must not be empty, and size %d and number of files %d not below 0", c.Path, c.MaxBytes, c.Keep)
	}
	c = c.withDefaults()
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	lock := flock.New(c.Path + ".lock") // the system releases it when the process ends
	if ok, err := lock.TryLock(); err != nil {
		return nil, fmt.Errorf("audit log %s: %w", c.Path, err)
	} else if !ok {
		return nil, fmt.Errorf("audit log %s: another server writes there: give each server its path", c.Path)
	}
	l := &Log{queue: make(chan entry, queueLen), ended: make(chan struct{})}
	l.writer = writer{Config: c, disk: d, lock: lock}
	started, err := l.writer.resume()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("audit log: %w", err), lock.Close())
	}
	l.write([]entry{started})
	go l.run()
	return l, nil
}

// Write appends a record. It waits only for room in the queue, and not longer than a second: see the package's comment.
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
	l.lose(1)
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
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case l.queue <- e:
		return true
	case <-timeout.C:
		l.stalled.Store(true)
		return false
	}
}

func (l *Log) lose(n uint64) {
	l.lost.Add(n)
	l.allLost.Add(n)
}

// Lost is how many lines could not be written since Open.
func (l *Log) Lost() uint64 {
	if l == nil {
		return 0
	}
	return l.allLost.Load()
}

// Close writes and syncs what is in the queue, and ends the log. A later Write is counted as lost. A second Close does
// nothing.
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
	<-l.ended
	if closed {
		return nil
	}
	return l.writer.close()
}

// run is the goroutine that writes.
func (l *Log) run() {
	defer close(l.ended)
	timer := time.NewTimer(syncAfter)
	timer.Stop()
	waits := false // the timer runs
	batch := make([]entry, 0, batchLen)
	for {
		if l.writer.unsynced && !waits {
			timer.Reset(syncAfter)
			waits = true
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
			waits = false
			l.writer.tick()
		}
	}
}

// collect adds what is in the queue, up to a full batch.
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

// write writes a batch, or counts it as lost.
func (l *Log) write(batch []entry) {
	lost := l.lost.Swap(0)
	if err := l.writer.append(batch, lost); err != nil {
		l.lost.Add(lost)
		l.lose(uint64(len(batch)))
		l.writer.complain("lines of the audit log are lost: make room on the disk, or repair it", err, slog.Uint64("lost", l.Lost()))
	}
}

// disk is what tests replace.
type disk struct {
	write  func(*os.File, []byte) (int, error)
	sync   func(*os.File) error
	rename func(from, to string) error
}

func realDisk() disk {
	return disk{write: (*os.File).Write, sync: (*os.File).Sync, rename: os.Rename}
}

var _ io.Closer = (*Log)(nil)
