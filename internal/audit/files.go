package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rotatedName returns the name of the rotated file whose first line has the given number. The number is padded to
// twenty digits so that the names sort in line order.
func rotatedName(path string, first uint64) string { return fmt.Sprintf("%s.%020d", path, first) }

// firstSeq returns the number of a file's first line according to its name, or 0 for the newest file.
func firstSeq(path, name string) uint64 {
	digits, ok := strings.CutPrefix(name, path+".")
	if !ok || len(digits) != 20 {
		return 0
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return first
}

// rotatedFiles returns the rotated files of the log at path, oldest first.
func rotatedFiles(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name := path + strings.TrimPrefix(e.Name(), filepath.Base(path)); filepath.Base(name) == e.Name() && firstSeq(path, name) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// files returns all files of the log at path, oldest first.
func files(path string) ([]string, error) {
	names, err := rotatedFiles(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err == nil {
		names = append(names, path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return names, nil
}

// lineReader reads lines of any length in bounded memory.
type lineReader struct {
	r    *bufio.Reader
	text []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// rawLine is a line read from a file. text excludes the newline, is truncated to maxLine bytes, and is valid until the
// next call to next.
type rawLine struct {
	text    []byte
	hash    string
	bytes   int64 // length of the whole line, without its newline
	newline bool
}

// next returns the next line, or io.EOF after the last one. A newline at the end of the file does not start another
// line.
func (l *lineReader) next() (rawLine, error) {
	l.text = l.text[:0]
	hash := sha256.New()
	var raw rawLine
	for {
		part, err := l.r.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			raw.newline, part = true, part[:n-1]
		}
		raw.bytes += int64(len(part))
		hash.Write(part)
		l.text = append(l.text, part[:min(len(part), maxLine-len(l.text))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && raw.bytes == 0:
			return rawLine{}, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return rawLine{}, err
		}
		raw.text, raw.hash = l.text, hex.EncodeToString(hash.Sum(nil))
		return raw, nil
	}
}

// ending describes how a file ends.
type ending struct {
	first, last uint64 // numbers of the first and the last complete line; 0 if there is none
	hash        string // hash of the last line, not counting a torn one
	size        int64  // size of the file up to and including that line
	torn        []byte // the text after that line, truncated to maxTorn bytes
	tornBytes   int64  // length of that text before truncation
	newline     bool   // whether the last line ends in a newline
}

// readEnding reads a file and describes how it ends.
func readEnding(name string) (ending, error) {
	f, err := os.Open(name)
	if err != nil {
		return ending{}, err
	}
	defer f.Close()
	end := ending{newline: true}
	var first, last []byte
	lines := newLineReader(f)
	for {
		raw, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return ending{}, fmt.Errorf("read %s: %w", name, err)
		}
		good := complete(raw.text)
		if !good && !raw.newline {
			end.torn, end.tornBytes = slices.Clone(raw.text[:min(len(raw.text), maxTorn)]), raw.bytes
			break
		}
		end.hash, end.newline = raw.hash, raw.newline
		end.size += raw.bytes
		if raw.newline {
			end.size++
		}
		if good && first == nil {
			first = slices.Clone(raw.text)
		}
		if good {
			last = append(last[:0], raw.text...)
		}
	}
	if l, err := parse(first); err == nil {
		end.first = l.Seq
	}
	if l, err := parse(last); err == nil {
		end.last = l.Seq
	}
	return end, nil
}
