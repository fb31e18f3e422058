// Package account is how a process tells what it believes and does: one line of JSON a record, written at once, so that
// a process that is killed has told everything up to then.
package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// File is the descriptor on which a process that was started by package child finds its account.
const File = 3

// Writer writes an account. It may be used from many goroutines.
type Writer struct {
	mu sync.Mutex // keeps lines whole
	w  io.Writer
}

// New returns a Writer that writes to w.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Inherited is the Writer of the account that this process was started with.
func Inherited() *Writer { return New(os.NewFile(File, "account")) }

// Write adds a record. An account that cannot be written makes the process end: what it believes must be known.
func (a *Writer) Write(record any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	line, err := json.Marshal(record)
	if err == nil {
		_, err = a.w.Write(append(line, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("the process cannot write down what it believes: %v", err))
	}
}

// Read reads an account to its end and hands each record to take. A line that was cut off by the process's death is the
// last and is left out.
func Read[R any](r io.Reader, take func(R)) error {
	decoder := json.NewDecoder(r)
	for {
		var record R
		err := decoder.Decode(&record)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("an account that cannot be read: %w", err)
		}
		take(record)
	}
}
