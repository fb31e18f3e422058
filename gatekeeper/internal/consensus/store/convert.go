package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/intact"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus/store/wal"
)

// ErrConverted means that a data directory is not in an old format, so it needs no conversion.
var ErrConverted = errors.New("it is already in this build's format")

const (
	convertDir = "convert.tmp" // within a data directory; holds the new files until they are moved into place
	oldSuffix  = ".old"        // added to the names of the old files, which are kept
)

// Convert rewrites the log and the stable store in the data directory dir in this build's format. The directory's
// server must not be running. Convert returns the names under which it keeps the old files. After a crash at any point,
// the directory is in either the old format or the new one, and the next call finishes the conversion. Convert returns
// ErrConverted, ErrDamaged, ErrInUse, or a system error.
func Convert(dir string) (kept []string, err error) {
	c := &conversion{dir: dir, tmp: filepath.Join(dir, convertDir), cfg: wal.NewConfig(hclog.NewNullLogger())}
	if err := c.run(c.steps()); err != nil {
		return nil, fmt.Errorf("store: convert %s: %w", dir, err)
	}
	return c.kept, nil
}

type conversion struct {
	dir, tmp string
	cfg      wal.Config
	old      *legacy
	kept     []string
}

// steps returns the steps of a conversion. The directory is in the new format after the second-to-last step.
func (c *conversion) steps() []func() error {
	return []func() error{c.undo, c.read, c.write, c.verify, c.keepSegments, c.placeLog, c.keepRaftFile, c.placeRaftFile, c.cleanUp}
}

func (c *conversion) run(steps []func() error) error {
	path := filepath.Join(c.dir, RaftFile)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	locked, err := openBolt(path, true)
	if err != nil {
		return err
	}
	switch err = check(path); {
	case errors.Is(err, ErrOldFormat):
		err = nil
		for _, step := range steps {
			if err == nil {
				err = step()
			}
		}
	case err == nil:
		err = errors.Join(ErrConverted, c.cleanUp())
	}
	return errors.Join(err, locked.Close())
}

// undo moves the old segments back if an earlier call has moved them away.
func (c *conversion) undo() error {
	segments := filepath.Join(c.dir, wal.Dir)
	_, err := os.Stat(segments + oldSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(c.tmp); err != nil {
		return fmt.Errorf("%s%s already exists: move it out of the way", wal.Dir, oldSuffix)
	}
	// placeLog moves the new segments out of tmp. If they are still in tmp, any segments in the final directory are a
	// copy of the old ones that an operator has put back, and a server may have written to that copy since.
	if _, err := os.Stat(segments); err == nil {
		if _, err := os.Stat(filepath.Join(c.tmp, wal.Dir)); err == nil {
			return fmt.Errorf("%s was put back after an interrupted conversion had saved it as %s%s: move the older of the two out of the way and convert again",
				wal.Dir, wal.Dir, oldSuffix)
		}
	}
	if err := os.RemoveAll(segments); err != nil {
		return err
	}
	return c.rename(segments+oldSuffix, segments)
}

func (c *conversion) read() (err error) {
	c.old, err = readLegacy(c.dir)
	return err
}

// batch is the number of entries written at a time.
const batch = 256

func (c *conversion) write() (err error) {
	if err := errors.Join(os.RemoveAll(c.tmp), os.Mkdir(c.tmp, 0o700)); err != nil {
		return err
	}
	o, err := openLog(c.tmp, c.old.kind, c.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close(), syncDataDir(c.dir)) }()
	for key, value := range c.old.values {
		if err := o.values.Set([]byte(key), value); err != nil {
			return err
		}
	}
	for rest := c.old.entries; len(rest) > 0; rest = rest[min(batch, len(rest)):] {
		if err := o.log.StoreLogs(rest[:min(batch, len(rest))]); err != nil {
			return err
		}
	}
	return nil
}

// verify reads the new files and compares them with the old ones.
func (c *conversion) verify() (err error) {
	o, err := OpenOffline(c.tmp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	for key, want := range c.old.values {
		if got, err := o.values.Get([]byte(key)); err != nil || !bytes.Equal(got, want) {
			return errors.Join(fmt.Errorf("the value of %s was not converted", key), err)
		}
	}
	first, last, err := o.Bounds()
	if err != nil || last+1-first != uint64(len(c.old.entries)) && last > 0 {
		return errors.Join(fmt.Errorf("%d log entries became entries %d to %d", len(c.old.entries), first, last), err)
	}
	for _, want := range c.old.entries {
		got, err := o.Entry(want.Index)
		if err != nil || !sameEntry(got, want) {
			return errors.Join(fmt.Errorf("log entry %d was not converted", want.Index), err)
		}
	}
	return nil
}

func sameEntry(a, b *raft.Log) bool {
	return a.Index == b.Index && a.Term == b.Term && a.Type == b.Type && bytes.Equal(a.Data, b.Data) && a.AppendedAt.Equal(b.AppendedAt)
}

func (c *conversion) keepSegments() error {
	if c.old.kind != KindWAL {
		return nil
	}
	c.kept = append(c.kept, wal.Dir+oldSuffix)
	return c.rename(filepath.Join(c.dir, wal.Dir), filepath.Join(c.dir, wal.Dir+oldSuffix))
}

// placeLog moves the files that the new RaftFile depends on into place, before RaftFile itself.
func (c *conversion) placeLog() error {
	name := intact.MarkFile
	if c.old.kind == KindWAL {
		name = wal.Dir
	}
	return c.rename(filepath.Join(c.tmp, name), filepath.Join(c.dir, name))
}

// keepRaftFile gives the old file a second name, so that the directory always contains a RaftFile.
func (c *conversion) keepRaftFile() error {
	path := filepath.Join(c.dir, RaftFile)
	kept, err := os.Stat(path + oldSuffix)
	if err == nil { // an earlier call got this far
		if current, err := os.Stat(path); err != nil || !os.SameFile(current, kept) {
			return errors.Join(fmt.Errorf("%s%s already exists: move it out of the way", RaftFile, oldSuffix), err)
		}
	} else if err := os.Link(path, path+oldSuffix); err != nil {
		return err
	}
	c.kept = append(c.kept, RaftFile+oldSuffix)
	return syncDataDir(c.dir)
}

func (c *conversion) placeRaftFile() error {
	return c.rename(filepath.Join(c.tmp, RaftFile), filepath.Join(c.dir, RaftFile))
}

func (c *conversion) cleanUp() error { return errors.Join(os.RemoveAll(c.tmp), syncDataDir(c.dir)) }

// rename renames a file and makes sure that the new name is on disk before it returns.
func (c *conversion) rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDataDir(c.dir)
}
