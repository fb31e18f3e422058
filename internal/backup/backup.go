// Package backup writes and reads backup files. gkctl snapshot save downloads one from a leader, and gatekeeperd
// restore reads it.
//
// The file begins with two lines of text: its format, and a Header as JSON. The state follows, in the snapshot format
// of package fsm. The file ends with the SHA-256 of everything before it.
package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The first line of a file is magic and the format. All released formats remain readable.
const (
	magic  = "gatekeeper backup "
	format = 1
)

// maxHeader limits the size of the two lines, so that reading a different kind of file does not use much memory.
const maxHeader = 1 << 20

var (
	// ErrNotBackup means that a file is not a backup.
	ErrNotBackup = errors.New("not a Gatekeeper backup")
	// ErrDamaged means that a backup was truncated or changed after it was written.
	ErrDamaged = errors.New("the backup is damaged or truncated: use another one")
)

// Header identifies the origin of a backup. Everything else is in the state.
type Header struct {
	ClusterName string `json:"cluster_name"`
	// Member is the server that made the backup. Members are the ids of all members, sorted.
	Member  string   `json:"member"`
	Members []string `json:"members"`
	// TakenAt is the time of the backup according to that server's clock. Version is that server's version.
	TakenAt time.Time `json:"taken_at"`
	Version string    `json:"version,omitempty"`
}

// Write writes a backup of state to w.
func Write(w io.Writer, h Header, state *fsm.State) error {
	header, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("backup: header: %w", err)
	}
	sum := sha256.New()
	all := io.MultiWriter(w, sum)
	if _, err := fmt.Fprintf(all, "%s%d\n%s\n", magic, format, header); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := state.Snapshot(all); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if _, err := w.Write(sum.Sum(nil)); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// Backup is a verified backup.
type Backup struct {
	Header
	State    *fsm.State
	Bytes    int64
	Checksum string // SHA-256 of the whole file in hexadecimal, as printed by sha256sum
}

// Read reads the backup at path, verifies its checksum, and checks that this version can restore it. It returns
// ErrNotBackup, ErrDamaged, fsm.ErrNewer, an error about the state (fsm.ErrSnapshot), or a system error.
func Read(path string) (*Backup, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := read(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func read(file *os.File) (*Backup, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", ErrNotBackup)
	}
	b := &Backup{Bytes: info.Size()}
	content := io.NewSectionReader(file, 0, max(b.Bytes-sha256.Size, 0))
	header, begin, err := readHeader(io.NewSectionReader(file, 0, b.Bytes))
	if err != nil {
		return nil, err
	}
	if b.Checksum, err = verify(file, content); err != nil { // verify before anything else is parsed
		return nil, err
	}
	if err := json.Unmarshal(header, &b.Header); err != nil {
		return nil, fmt.Errorf("invalid header: %w", err)
	}
	machine := fsm.New("")
	if err := machine.Restore(io.NewSectionReader(content, begin, max(content.Size()-begin, 0))); err != nil {
		return nil, err
	}
	b.State = machine.State()
	return b, nil
}

// readHeader returns the header and the offset of the state.
func readHeader(file io.Reader) (header []byte, begin int64, err error) {
	r := bufio.NewReader(io.LimitReader(file, maxHeader))
	first, err := r.ReadString('\n')
	version, isBackup := strings.CutPrefix(strings.TrimSuffix(first, "\n"), magic)
	switch {
	case err != nil && isBackup:
		return nil, 0, ErrDamaged
	case err != nil && !errors.Is(err, io.EOF):
		return nil, 0, err
	case err != nil, !isBackup:
		return nil, 0, ErrNotBackup
	}
	switch n, err := strconv.Atoi(version); {
	case err != nil || n < 1:
		return nil, 0, ErrDamaged
	case n > format:
		return nil, 0, fmt.Errorf("its format is %d, but this version reads %d: %w", n, format, fsm.ErrNewer)
	}
	header, err = r.ReadBytes('\n')
	if err != nil {
		return nil, 0, ErrDamaged
	}
	return header, int64(len(first) + len(header)), nil
}

// verify compares the checksum at the end of the file with its content, and returns the checksum of the whole file.
func verify(file *os.File, content *io.SectionReader) (string, error) {
	storedSum := make([]byte, sha256.Size)
	if _, err := file.ReadAt(storedSum, content.Size()); err != nil {
		return "", fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(content, 0, content.Size())); err != nil {
		return "", err
	}
	if !bytes.Equal(sum.Sum(nil), storedSum) {
		return "", fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	sum.Write(storedSum)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Summary describes a backup without secrets or payloads: its origin and its object counts.
type Summary struct {
	Header
	ClusterID    string `json:"cluster_id"`
	Revision     uint64 `json:"revision,string"`
	AppliedIndex uint64 `json:"applied_index,string"`
	FeatureLevel uint32 `json:"feature_level"`
	Bytes        int64  `json:"bytes,string"`
	Checksum     string `json:"sha256"`

	Definitions int `json:"definitions"`
	// Permits counts live permits. Cooling counts ended permits whose slots are not free yet. Held counts permits that
	// an operator must clear.
	Permits  int `json:"permits"`
	Cooling  int `json:"cooling"`
	Held     int `json:"held"`
	Claims   int `json:"claims"`
	Cordons  int `json:"cordons"`
	Jobs     int `json:"jobs"`
	Tasks    int `json:"tasks"`
	Bindings int `json:"bindings"`
	Tokens   int `json:"tokens"`
	// Requests counts remembered requests, and Entries counts journal entries.
	Requests int `json:"requests"`
	Entries  int `json:"journal_entries"`
	// Quarantine is the default time for which a restored cluster grants no permits.
	Quarantine time.Duration `json:"-"`
}

// Summary summarizes the backup.
func (b *Backup) Summary() Summary {
	s := b.State
	out := Summary{
		Header: b.Header, ClusterID: s.ClusterID(), Revision: s.Revision(), AppliedIndex: s.Index(), FeatureLevel: s.FeatureLevel(),
		Bytes: b.Bytes, Checksum: b.Checksum,
		Definitions: s.DefinitionCount(), Cordons: len(s.Cordons()), Jobs: s.JobCount(), Bindings: len(s.Bindings()),
		Quarantine: fsm.Recovery{}.FullQuarantine(s),
	}
	for p := range s.Permits(0) {
		switch p.State {
		case semaphore.Cooling:
			out.Cooling++
		case semaphore.Held:
			out.Held++
		default:
			out.Permits++
		}
	}
	for name := range s.ClaimedSemaphores() {
		out.Claims += s.ClaimCount(name)
	}
	for j := range s.Jobs(0) {
		for range s.Tasks(j.Number, 0) {
			out.Tasks++
		}
	}
	for _, binding := range s.Bindings() {
		out.Tokens += len(binding.Tokens)
	}
	requests, edits, _, _ := s.RequestMemory()
	out.Requests = requests + edits
	for range s.Journal("", 0) {
		out.Entries++
	}
	return out
}
