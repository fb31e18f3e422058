package held

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// File tells a command how long its permit remains safe to rely on. Only the user running gkctl can read it.
type File struct {
	dir  string
	last permitStatus // as last written
}

// Firing is a firing in JSON output.
type Firing struct {
	Name string     `json:"name"`
	Due  *time.Time `json:"due,omitempty"`
}

// permitStatus is the content of the file. As in all of gkctl's JSON output, tokens are strings and durations are in
// seconds, as in "58.8s".
type permitStatus struct {
	Semaphore string  `json:"semaphore"`
	Token     string  `json:"token"`
	Group     string  `json:"group"`
	Acquirer  string  `json:"acquirer"`
	HolderID  string  `json:"holder_id"`
	Weight    uint32  `json:"weight"`
	Firing    *Firing `json:"firing,omitempty"`
	Duration  string  `json:"duration"`
	// State is held, stopping (the command was sent SIGTERM) or lost.
	State string `json:"state"`
	// SafeUntil is the time until which no one else can get the permit, according to the host's wall clock, which may
	// be adjusted. It is absent if the permit is lost.
	SafeUntil *time.Time `json:"safe_until,omitempty"`
	// SafeFor is the same time as a duration after WrittenAt.
	SafeFor   string    `json:"safe_for"`
	WrittenAt time.Time `json:"written_at"`
}

// NewFile creates a private directory for the file, in the login session's runtime directory if there is one. The
// directory is removed by Remove or, if gkctl dies, by the guard.
func NewFile() (*File, error) {
	parent := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "gkctl-run-")
	if err != nil && parent != "" {
		dir, err = os.MkdirTemp("", "gkctl-run-") // after su, the directory belongs to another user
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("GK_PERMIT_FILE: %w", err)
	}
	return &File{dir: dir}, nil
}

func (f *File) path() string { return filepath.Join(f.dir, "permit.json") }

// Remove removes the file and its directory.
func (f *File) Remove() { _ = os.RemoveAll(f.dir) } // a failure only leaves a small file behind

// update writes the current state if it differs from the one last written.
func (f *File) update(p *client.Permit, weight uint32, firing *Firing) error {
	now := time.Now()
	s := permitStatus{
		Semaphore: p.Semaphore(), Token: strconv.FormatUint(p.Token(), 10), Group: p.Group(), Acquirer: p.Acquirer(), HolderID: p.HolderID(),
		Weight: weight, Firing: firing, Duration: words.Seconds(p.Duration()), State: "held", SafeFor: words.Seconds(0), WrittenAt: now.UTC(),
	}
	switch until := p.SafeUntil(); {
	case until.IsZero():
		s.State = "lost"
	default:
		if p.Context().Err() != nil {
			s.State = "stopping"
		}
		s.SafeFor = words.Seconds(until.Sub(now).Truncate(time.Millisecond))
		until = until.UTC().Truncate(time.Millisecond)
		s.SafeUntil = &until
	}
	if !f.last.differs(&s) {
		return nil
	}
	if err := ui.ReplaceFile(filepath.Join(f.dir, ".permit.json"), f.path(), s); err != nil {
		return fmt.Errorf("GK_PERMIT_FILE: %w", err)
	}
	f.last = s
	return nil
}

// differs reports whether n differs from s. It ignores the slight difference between two readings of the same deadline.
func (s *permitStatus) differs(n *permitStatus) bool {
	if s.State != n.State || s.Duration != n.Duration || (s.SafeUntil == nil) != (n.SafeUntil == nil) {
		return true
	}
	return s.SafeUntil != nil && n.SafeUntil.Sub(*s.SafeUntil).Abs() > 5*time.Millisecond
}
