package workers

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// pipes are the standard files of a command.
type pipes struct {
	in, out, err pipe
	copying      sync.WaitGroup
}

type pipe struct{ r, w *os.File }

// strayLimit is how long to read, after the command has ended, from processes that have left its group.
const strayLimit = time.Second

func newPipes() (*pipes, error) {
	p := new(pipes)
	for _, each := range []*pipe{&p.in, &p.out, &p.err} {
		var err error
		if each.r, each.w, err = os.Pipe(); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// theirs returns the command's ends.
func (p *pipes) theirs() []*os.File { return []*os.File{p.in.r, p.out.w, p.err.w} }

// begin feeds the command, and reads its output. Call it after the start of the command, which then has its ends.
func (p *pipes) begin(input []byte, output, errors io.Writer) {
	for _, f := range p.theirs() {
		_ = f.Close() // the command has a copy
	}
	p.copying.Go(func() {
		_, _ = p.in.w.Write(input) // a command need not read its input
		_ = p.in.w.Close()         // ends the input
	})
	p.copying.Go(func() { _, _ = io.Copy(output, p.out.r) }) // until the pipe ends, or close ends it
	p.copying.Go(func() { _, _ = io.Copy(errors, p.err.r) })
}

// close returns when everything that the command wrote was read.
func (p *pipes) close() {
	_ = p.in.w.Close() // there is no reader any more
	for _, f := range []*os.File{p.out.r, p.err.r} {
		_ = f.SetReadDeadline(time.Now().Add(strayLimit)) // a pipe has deadlines
	}
	p.copying.Wait()
	for _, each := range []pipe{p.in, p.out, p.err} {
		_, _ = each.r.Close(), each.w.Close() // some are already closed
	}
}

// result keeps the first bytes of a command's output, and counts the rest. The command is not stopped.
type result struct {
	most int
	kept []byte
	size int
}

func (r *result) Write(p []byte) (int, error) {
	r.size += len(p)
	r.kept = append(r.kept, p[:min(len(p), r.most-len(r.kept))]...)
	return len(p), nil
}

// bytes returns the output, or an error if it was too large.
func (r *result) bytes() ([]byte, error) {
	if r.size > r.most {
		return nil, fmt.Errorf("the output has %d bytes, but max_result of the job is %d", r.size, r.most)
	}
	return r.kept, nil
}

// longestLine is how many bytes of a line are kept: more than a failure can hold.
const longestLine = 512

// tail passes on the output of a command, and keeps the last line that is not empty.
type tail struct {
	to         io.Writer
	line, last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	_, _ = t.to.Write(p) // the command continues without it
	for line := range bytes.Lines(p) {
		t.line = append(t.line, line[:min(len(line), longestLine-len(t.line))]...)
		if line[len(line)-1] == '\n' {
			t.end()
		}
	}
	return len(p), nil
}

func (t *tail) end() {
	if line := bytes.TrimSpace(t.line); len(line) > 0 {
		t.last = bytes.Clone(line)
	}
	t.line = t.line[:0]
}

// String is the last line.
func (t *tail) String() string {
	t.end()
	return strings.ToValidUTF8(string(t.last), "?")
}
