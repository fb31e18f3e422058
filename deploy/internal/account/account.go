// Package account lets a process record its beliefs and actions. Each record is one line of JSON that is written
// immediately, so the account of a killed process is complete up to its death.
package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// File is the file descriptor of the account in a process started by package child.
const File = 3

// Writer writes an account. It is safe for concurrent use.
type Writer struct {
	mu sync.Mutex // prevents interleaved lines
	w  io.Writer
}

// New returns a Writer that writes to w.
func New(w io.Writer) *Writer { return &Writer{w: w} }

// Inherited returns a Writer for the account that this process inherited from its parent.
func Inherited() *Writer { return New(os.NewFile(File, "account")) }

// Write adds a record. It panics if the record cannot be written, because the account would then be incomplete.
func (a *Writer) Write(record any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	line, err := json.Marshal(record)
	if err == nil {
		_, err = a.w.Write(append(line, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("the process cannot write its account: %v", err))
	}
}

// Read reads an account to its end and passes each record to take. It ignores an incomplete last line, such as one left
// behind by a process that was killed.
func Read[R any](r io.Reader, take func(R)) error {
	decoder := json.NewDecoder(r)
	for {
		var record R
		err := decoder.Decode(&record)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot read the account: %w", err)
		}
		take(record)
	}
}
