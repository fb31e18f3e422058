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

// pipes connects a command's standard streams.
type pipes struct {
	in, out, err pipe
	copying      sync.WaitGroup
}

type pipe struct{ r, w *os.File }

// strayTimeout is how long to wait, after the command has exited, for output from processes that have left its
// process group.
const strayTimeout = time.Second

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

// childEnds returns the command's ends of the pipes.
func (p *pipes) childEnds() []*os.File { return []*os.File{p.in.r, p.out.w, p.err.w} }

// begin starts writing the command's input and reading its output. It must be called after the command has been
// started, because it closes the command's ends of the pipes.
func (p *pipes) begin(input []byte, output, errors io.Writer) {
	for _, f := range p.childEnds() {
		_ = f.Close() // the command has its own copy
	}
	p.copying.Go(func() {
		_, _ = p.in.w.Write(input) // the command may not read all of its input
		_ = p.in.w.Close()         // makes the command read end of file
	})
	p.copying.Go(func() { _, _ = io.Copy(output, p.out.r) }) // until end of file, or until close sets a deadline
	p.copying.Go(func() { _, _ = io.Copy(errors, p.err.r) })
}

// close waits until all of the command's output has been read, then closes the pipes.
func (p *pipes) close() {
	_ = p.in.w.Close() // nothing reads the input anymore
	for _, f := range []*os.File{p.out.r, p.err.r} {
		_ = f.SetReadDeadline(time.Now().Add(strayTimeout)) // pipes support deadlines
	}
	p.copying.Wait()
	for _, each := range []pipe{p.in, p.out, p.err} {
		_, _ = each.r.Close(), each.w.Close() // some are already closed
	}
}

// result keeps up to limit bytes of a command's output and counts the total. It does not stop a command that writes
// more.
type result struct {
	limit int
	kept  []byte
	size  int
}

func (r *result) Write(p []byte) (int, error) {
	r.size += len(p)
	r.kept = append(r.kept, p[:min(len(p), r.limit-len(r.kept))]...)
	return len(p), nil
}

// bytes returns the output, or an error if it exceeds the limit.
func (r *result) bytes() ([]byte, error) {
	if r.size > r.limit {
		return nil, fmt.Errorf("the output is %d bytes, but the job's max_result is %d", r.size, r.limit)
	}
	return r.kept, nil
}

// maxLineBytes is the maximum number of bytes kept from each line. Servers store fewer.
const maxLineBytes = 512

// tail copies a command's output and keeps the last non-empty line.
type tail struct {
	to         io.Writer
	line, last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	_, _ = t.to.Write(p) // an error must not stop the command
	for line := range bytes.Lines(p) {
		t.line = append(t.line, line[:min(len(line), maxLineBytes-len(t.line))]...)
		if line[len(line)-1] == '\n' {
			t.finishLine()
		}
	}
	return len(p), nil
}

func (t *tail) finishLine() {
	if line := bytes.TrimSpace(t.line); len(line) > 0 {
		t.last = bytes.Clone(line)
	}
	t.line = t.line[:0]
}

// String returns the last line.
func (t *tail) String() string {
	t.finishLine()
	return strings.ToValidUTF8(string(t.last), "?")
}
