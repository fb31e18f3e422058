package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/raft"
)

// check reads all of a log's file that is in use, and says whether it is as it was written. It costs one reading of the log,
// which snapshots keep short.
func check(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	c := &checker{buckets: make(map[string]bool)}
	err = walk(file, c.found)
	if err == nil {
		err = c.end()
	}
	if err != nil {
		err = damaged("%w", err)
	}
	return errors.Join(err, file.Close())
}

type checker struct {
	buckets map[string]bool
	last    []byte // endOf what was found
	wanted  []byte // endOf what was written
	index   uint64 // of the last entry, 0 before it
	term    uint64
}

func (c *checker) found(bucket, key, value []byte) error {
	switch {
	case key == nil:
		c.buckets[string(bucket)] = true
		return nil
	case string(bucket) == entriesBucket:
		return c.entry(key, value)
	case string(bucket) != factsBucket:
		return fmt.Errorf("bucket %q is none of this format", bucket)
	}
	content, err := unseal(key, value)
	if err != nil {
		return fmt.Errorf("the value of %q: %w", key, err)
	}
	if string(key) == keyEnd {
		c.wanted = content
	}
	return nil
}

func (c *checker) entry(key, record []byte) error {
	if len(key) != 8 {
		return fmt.Errorf("an entry of the log has the key %q", key)
	}
	index := binary.BigEndian.Uint64(key)
	var entry raft.Log
	if err := readEntry(key, record, &entry); err != nil {
		return fmt.Errorf("entry %d of the log: %w", index, err)
	}
	if c.index > 0 && (index != c.index+1 || entry.Term < c.term) {
		return fmt.Errorf("entry %d of the log, of term %d, is followed by entry %d, of term %d", c.index, c.term, index, entry.Term)
	}
	c.index, c.term, c.last = index, entry.Term, endOf(key, record)
	return nil
}

func (c *checker) end() error {
	if len(c.buckets) != 2 || !c.buckets[entriesBucket] || !c.buckets[factsBucket] {
		return errors.New("it holds no log of this format")
	}
	if c.last == nil {
		c.last = endOf(nil, nil)
	}
	if c.wanted == nil || !bytes.Equal(c.last, c.wanted) {
		return fmt.Errorf("the log ends with entry %d, which is not the last that was written", c.index)
	}
	return nil
}
