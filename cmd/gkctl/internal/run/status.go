package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// The outcomes of a run, in the status file. They are part of the contract with scripts.
const (
	outcomeRan         = "ran"         // the command ran to its own end
	outcomeLost        = "lost"        // the permit was lost or to be given up while the command ran: it was stopped
	outcomeDenied      = "denied"      // no permit
	outcomeClaimed     = "claimed"     // another has, or had, the firing
	outcomeUnreachable = "unreachable" // no server answered
	outcomeNotStarted  = "not_started" // anything else for which the command was not started
)

// runStatus is the status file of run. As everywhere in gkctl's JSON tokens are strings.
type runStatus struct {
	Semaphore string `json:"semaphore"`
	Group     string `json:"group,omitempty"`
	Acquirer  string `json:"acquirer,omitempty"`
	Outcome   string `json:"outcome"`
	// ExitCode is that of gkctl.
	ExitCode int `json:"exit_code"`
	// Reason is one word: that of the denial, or why the command was stopped.
	Reason string `json:"reason,omitempty"`
	// Message is for a person.
	Message string        `json:"message,omitempty"`
	Token   string        `json:"token,omitempty"`
	Firing  *firingStatus `json:"firing,omitempty"`
	// Winner has, or had, the firing.
	Winner  *winnerStatus  `json:"winner,omitempty"`
	Command *commandStatus `json:"command,omitempty"`
	// Released: the slot was given back. Otherwise it is free when the permit expires.
	Released bool       `json:"released"`
	Started  time.Time  `json:"started_at"`
	Acquired *time.Time `json:"acquired_at,omitempty"`
	Ended    time.Time  `json:"ended_at"`
}

type firingStatus struct {
	Name string     `json:"name"`
	Due  *time.Time `json:"due,omitempty"`
}

type winnerStatus struct {
	Group    string `json:"group"`
	Acquirer string `json:"acquirer"`
	HolderID string `json:"holder_id"`
	Token    string `json:"token"`
}

// commandStatus is how the command ended.
type commandStatus struct {
	PID int `json:"pid"`
	// ExitCode is 128 + n when Signal is number n.
	ExitCode int       `json:"exit_code"`
	Signal   string    `json:"signal,omitempty"`
	Started  time.Time `json:"started_at"`
	Ended    time.Time `json:"ended_at"`
}

func (f firingClaim) status() *firingStatus {
	switch {
	case f.name == "":
		return nil
	case f.due.IsZero():
		return &firingStatus{Name: f.name}
	}
	return &firingStatus{Name: f.name, Due: &f.due}
}

func (s *runStatus) denied(d *client.DeniedError) {
	s.Outcome, s.Reason, s.Message = outcomeDenied, string(d.Reason), d.Error()
	if d.Reason != client.ReasonFiringClaimed && d.Reason != client.ReasonFiringDone {
		return
	}
	s.Outcome = outcomeClaimed
	if f := d.Firing; f != nil {
		w := f.GetWinner()
		s.Winner = &winnerStatus{Group: w.GetGroup(), Acquirer: w.GetAcquirer(), HolderID: w.GetHolderId(), Token: strconv.FormatUint(f.GetToken(), 10)}
	}
}

// statusFile is where the status goes; nil for nowhere. Its folder is tried before anything is run.
type statusFile struct {
	path string
	temp string // the file that will take its place; empty when it is not a regular file, and is written in place
}

func newStatusFile(path string) (*statusFile, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		if info, err = os.Stat(path); err == nil && info.Mode()&(fs.ModeDir|fs.ModeSocket) != 0 {
			return nil, ui.Usagef("--status-file: %s is a directory or a socket, and no file", path)
		}
		return &statusFile{path: path}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".gkctl-status-*")
	if err != nil {
		return nil, ui.Usagef("--status-file: %w", err)
	}
	return &statusFile{path: path, temp: f.Name()}, f.Close()
}

// write writes how the run ended with err, and returns err.
func (f *statusFile) write(s *runStatus, err error) error {
	if f == nil {
		return err
	}
	if err != nil {
		s.ExitCode, _ = ui.Classify(nil, err)
		s.Message = cmp.Or(s.Message, err.Error())
	}
	failed := f.put(s)
	if failed != nil {
		failed = fmt.Errorf("--status-file: %w", failed)
		if err == nil {
			return failed
		}
	}
	return withCode(errors.Join(err, failed), err)
}

func (f *statusFile) put(s *runStatus) error {
	if f.temp != "" {
		return replaceFile(f.temp, f.path, s)
	}
	b, err := indented(s)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | syscall.O_NONBLOCK // nobody may be reading from a pipe, now or ever
	info, err := os.Stat(f.path)
	switch {
	case err != nil || !info.Mode().IsRegular():
	case strings.HasPrefix(f.path, "/dev/"), strings.HasPrefix(f.path, "/proc/"): // a name of our own output, as /dev/stdout, which the command shares
		flags |= os.O_APPEND
	default: // a link, which stays one
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(f.path, flags, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	return errors.Join(err, file.Close())
}

// withCode keeps the exit code and the hint of an error to which others were joined.
func withCode(joined, err error) error {
	if err == nil || joined == nil || joined.Error() == err.Error() {
		return err
	}
	code, hint := ui.Classify(nil, err)
	return &ui.CodeError{Code: code, Err: joined, Hint: hint}
}

// replaceFile writes an object as JSON into temp and gives it the name path, so that nobody reads half of it.
func replaceFile(temp, path string, object any) error {
	b, err := indented(object)
	if err == nil {
		err = os.WriteFile(temp, b, 0o600)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the error says what failed
	}
	return err
}

func indented(object any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object)
	return b.Bytes(), err
}

// permitFile says to the command until when its permit can be counted on. Only gkctl's own user reads it.
type permitFile struct {
	dir string
	was permitStatus // what was written last
}

// permitStatus is the permit file. As everywhere in gkctl's JSON tokens are strings, and durations are in seconds, as in "58.8s".
type permitStatus struct {
	Semaphore string        `json:"semaphore"`
	Token     string        `json:"token"`
	Group     string        `json:"group"`
	Acquirer  string        `json:"acquirer"`
	HolderID  string        `json:"holder_id"`
	Weight    uint32        `json:"weight"`
	Firing    *firingStatus `json:"firing,omitempty"`
	Duration  string        `json:"duration"`
	// State is held, stopping (the command got SIGTERM) or lost.
	State string `json:"state"`
	// SafeUntil is until when nobody else can be granted the permit, by the wall clock of this host, which somebody may set; absent
	// when the permit is lost.
	SafeUntil *time.Time `json:"safe_until,omitempty"`
	// SafeFor is the same as a duration, counted from WrittenAt.
	SafeFor   string    `json:"safe_for"`
	WrittenAt time.Time `json:"written_at"`
}

// newPermitFile makes the folder of the file, which is private, where the system keeps what ends with the session.
func newPermitFile() (*permitFile, error) {
	in := os.Getenv("XDG_RUNTIME_DIR")
	if info, err := os.Stat(in); err != nil || !info.IsDir() {
		in = ""
	}
	dir, err := os.MkdirTemp(in, "gkctl-run-")
	if err != nil && in != "" {
		dir, err = os.MkdirTemp("", "gkctl-run-") // that of another user, after su
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("GK_PERMIT_FILE: %w", err)
	}
	return &permitFile{dir: dir}, nil
}

func (f *permitFile) path() string { return filepath.Join(f.dir, "permit.json") }

func (f *permitFile) remove() { _ = os.RemoveAll(f.dir) } // at worst a small file stays

// update writes what is true now, if it is news.
func (f *permitFile) update(p *client.Permit, weight uint32, firing *firingStatus) error {
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
	if !f.was.differs(&s) {
		return nil
	}
	if err := replaceFile(filepath.Join(f.dir, ".permit.json"), f.path(), s); err != nil {
		return fmt.Errorf("GK_PERMIT_FILE: %w", err)
	}
	f.was = s
	return nil
}

// differs says whether n says anything else. Two readings of the same deadline differ a little.
func (s *permitStatus) differs(n *permitStatus) bool {
	if s.State != n.State || s.Duration != n.Duration || (s.SafeUntil == nil) != (n.SafeUntil == nil) {
		return true
	}
	return s.SafeUntil != nil && n.SafeUntil.Sub(*s.SafeUntil).Abs() > 5*time.Millisecond
}
