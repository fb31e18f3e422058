package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// writer writes lines to files. It is not safe for concurrent use.
type writer struct {
	Config
	disk disk
	lock io.Closer

	file      *os.File
	size      int64  // size of the complete lines in file
	first     uint64 // number of the first line in file; 0 if file is empty
	partial   bool   // file may contain part of a batch after size bytes
	noNewline bool   // the last line in file is complete except for its newline
	unsynced  bool

	seq  uint64 // number of the last line
	hash string // hash of the last line; empty if there is none

	buf          bytes.Buffer
	lastErrorLog time.Time
	lastAnchor   time.Time
	anchorSeq    uint64
}

// resume finds the end of the chain, opens the newest file and repairs its end. It returns the first line to write.
func (w *writer) resume() (entry, error) {
	names, err := files(w.Path)
	if err != nil {
		return entry{}, err
	}
	started := entry{event: eventStarted, Record: Record{Time: time.Now()}}
	var newest ending
	for i := len(names) - 1; i >= 0 && (w.seq == 0 || w.hash == ""); i-- {
		end, err := readEnding(names[i])
		if err != nil {
			return entry{}, err
		}
		if names[i] == w.Path {
			newest = end
		}
		if w.seq == 0 {
			w.seq = end.last
		}
		if w.hash == "" {
			w.hash = end.hash
		}
	}
	if w.file, err = openFile(w.Path); err != nil {
		return entry{}, err
	}
	w.first, w.size = newest.first, newest.size
	if newest.tornBytes > 0 {
		started.torn, started.tornBytes = clean(string(newest.torn), maxTorn), newest.tornBytes
		w.Logger.Warn("the last line of the audit log is torn: the server was killed during a write; its text is preserved in the `started` line",
			slog.String("path", w.Path), slog.Uint64("after", w.seq))
		if err := w.file.Truncate(w.size); err != nil {
			return entry{}, errors.Join(err, w.file.Close())
		}
	}
	w.noNewline = w.size > 0 && !newest.newline
	w.anchor(started.Time)
	return started, nil
}

func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// append writes a batch in one call. If it returns an error, the whole batch is considered unwritten.
func (w *writer) append(batch []entry, lost uint64) error {
	w.buf.Reset()
	if w.noNewline {
		w.buf.WriteByte('\n')
	}
	seq, hash := w.seq, w.hash
	for i := range batch {
		l := batch[i].line(w.Server, w.Cluster)
		if i == 0 {
			l.Lost = lost
		}
		seq++
		l.Seq, l.Prev = seq, hash
		hash = l.appendTo(&w.buf)
	}
	if err := w.truncatePartial(); err != nil {
		return err
	}
	if w.first > 0 && !w.noNewline && w.size+int64(w.buf.Len()) > w.MaxBytes {
		if err := w.rotate(); err != nil { // the file grows until rotation succeeds
			w.logError("the audit log could not be rotated", err)
		}
	}
	n, err := w.disk.write(w.file, w.buf.Bytes())
	if err != nil {
		w.partial = n > 0
		return errors.Join(err, w.truncatePartial())
	}
	if w.first == 0 {
		w.first = w.seq + 1
	}
	w.size += int64(n)
	w.seq, w.hash = seq, hash
	w.unsynced, w.noNewline = true, false
	return nil
}

// truncatePartial removes a partially written batch from the end of the file.
func (w *writer) truncatePartial() error {
	if !w.partial {
		return nil
	}
	if err := w.file.Truncate(w.size); err != nil {
		return err
	}
	w.partial = false
	return nil
}

// rotate starts a new file. If that fails, the old file stays in use.
func (w *writer) rotate() error {
	old := rotatedName(w.Path, w.first)
	if _, err := os.Lstat(old); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s already exists: move it out of the way", old)
	}
	w.sync()
	next := w.Path + ".next"
	file, err := openFile(next)
	if err != nil {
		return err
	}
	if err := w.disk.rename(w.Path, old); err != nil {
		return errors.Join(err, file.Close(), os.Remove(next))
	}
	if err := w.disk.rename(next, w.Path); err != nil {
		return errors.Join(err, file.Close(), w.disk.rename(old, w.Path))
	}
	err = errors.Join(w.file.Close(), syncDataDir(w.Path))
	w.file, w.size, w.first = file, 0, 0
	w.anchor(time.Now())
	return errors.Join(err, w.removeOld())
}

func syncDataDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (w *writer) removeOld() error {
	names, err := rotatedFiles(w.Path)
	for i := 0; i < len(names)-w.Keep; i++ {
		err = errors.Join(err, os.Remove(names[i]))
	}
	return err
}

// tick syncs, starts a new file if the current one was moved away, and periodically writes an anchor.
func (w *writer) tick() {
	w.sync()
	if err := w.reopen(); err != nil {
		w.logError("the audit log cannot be reopened; lines are being written to the file that was moved or removed", err)
	}
	if now := time.Now(); now.Sub(w.lastAnchor) >= anchorInterval {
		w.anchor(now)
	}
}

func (w *writer) sync() {
	if !w.unsynced {
		return
	}
	w.unsynced = false // a second sync may succeed even though the lines were never written
	if err := w.disk.sync(w.file); err != nil {
		w.logError("the audit log cannot be synced: lines may be lost if the machine crashes", err)
	}
}

// reopen starts a new file if the path no longer refers to the open file.
func (w *writer) reopen() error {
	if err := w.truncatePartial(); err != nil {
		return err
	}
	openInfo, err := w.file.Stat()
	if err != nil {
		return err
	}
	w.size = min(w.size, openInfo.Size()) // another program may have truncated the file
	now, err := os.Stat(w.Path)
	if err == nil && os.SameFile(openInfo, now) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := openFile(w.Path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	old := w.file
	w.file, w.size, w.first, w.noNewline = file, info.Size(), 0, false
	return old.Close()
}

// anchor writes the number and hash of the last line to the server's log.
func (w *writer) anchor(now time.Time) {
	if w.lastAnchor = now; w.seq > w.anchorSeq {
		w.anchorSeq = w.seq
		w.Logger.Info("audit log anchor", slog.String("path", w.Path), slog.String("anchor", Anchor{w.seq, w.hash}.String()))
	}
}

// logError logs an error at most once a minute.
func (w *writer) logError(text string, err error, more ...any) {
	now := time.Now()
	if !w.lastErrorLog.IsZero() && now.Sub(w.lastErrorLog) < errorLogInterval {
		return
	}
	w.lastErrorLog = now
	w.Logger.Error(text, append([]any{slog.String("path", w.Path), slog.Any("error", err)}, more...)...)
}

// close closes the file. The caller must have stopped writing.
func (w *writer) close() error {
	w.sync()
	w.anchor(time.Now())
	return errors.Join(w.file.Close(), w.lock.Close())
}
