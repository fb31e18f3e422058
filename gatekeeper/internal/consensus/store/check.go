package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
)

// The buckets of raft-boltdb.
const (
	logsBucket = "logs" // index -> entry, in msgpack
	confBucket = "conf" // term, vote, list of log segments
)

// oldEntries is a bucket that exists only in the pre-raft-boltdb format.
const oldEntries = "entries"

// ErrOldFormat means that a data directory is in the format used before raft-boltdb. Convert converts it.
var ErrOldFormat = errors.New("its log is in a format used only by earlier builds: stop the server and run gatekeeperd convert --data-dir on this directory; it keeps the old files")

// check reads every used part of RaftFile and returns an error if any of it is damaged. It reads the whole log, which
// snapshots keep short.
func check(path string) error {
	c := &checker{buckets: make(map[string]bool)}
	err := walkFile(path, c.visit)
	if err == nil && (len(c.buckets) != 2 || !c.buckets[logsBucket] || !c.buckets[confBucket]) {
		err = errNoLog
	}
	if err != nil && !errors.Is(err, ErrOldFormat) {
		err = damaged("%w", err)
	}
	return err
}

// walkFile calls walk on the file at path.
func walkFile(path string, visit func(bucket, key, value []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(walk(file, visit), file.Close())
}

var errNoLog = errors.New("it contains no log in this format")

type checker struct {
	buckets map[string]bool
	order   intact.Order
}

func (c *checker) visit(bucket, key, value []byte) error {
	switch {
	case string(bucket) == oldEntries:
		return ErrOldFormat
	case key == nil:
		c.buckets[string(bucket)] = true
		return nil
	case string(bucket) == logsBucket:
		return c.entry(key, value)
	case string(bucket) != confBucket:
		return fmt.Errorf("unexpected bucket %q", bucket)
	}
	if _, err := intact.Unseal(key, value); err != nil {
		return fmt.Errorf("the value of %q: %w", key, err)
	}
	return nil
}

func (c *checker) entry(key, value []byte) error {
	if len(key) != 8 {
		return fmt.Errorf("the key %q of a log entry is not 8 bytes long", key)
	}
	index := binary.BigEndian.Uint64(key)
	var entry raft.Log
	err := codec.NewDecoderBytes(value, &codec.MsgpackHandle{}).Decode(&entry)
	if err == nil {
		err = intact.Verify(index, &entry)
	}
	if err != nil {
		return fmt.Errorf("entry %d of the log: %w", index, err)
	}
	return c.order.Next(index, entry.Term)
}
