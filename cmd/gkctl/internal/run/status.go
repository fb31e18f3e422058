package run

import (
	"cmp"
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
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/held"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// The outcomes of a run in the status file. Scripts rely on them.
const (
	outcomeRan         = "ran"         // the command ran to completion
	outcomeLost        = "lost"        // the command was stopped because the permit was lost or had to be given up
	outcomeDenied      = "denied"      // no permit was granted
	outcomeClaimed     = "claimed"     // another holder has claimed or run the firing
	outcomeUnreachable = "unreachable" // no server responded
	outcomeNotStarted  = "not_started" // the command was not started for another reason
)

// runStatus is the content of run's status file. Tokens are strings, as in all of gkctl's JSON output.
type runStatus struct {
	Semaphore string `json:"semaphore"`
	Group     string `json:"group,omitempty"`
	Acquirer  string `json:"acquirer,omitempty"`
	Outcome   string `json:"outcome"`
	// ExitCode is gkctl's exit code.
	ExitCode int `json:"exit_code"`
	// Reason is a constant: the reason for the denial, or why the command was stopped.
	Reason string `json:"reason,omitempty"`
	// Message is human-readable text.
	Message string       `json:"message,omitempty"`
	Token   string       `json:"token,omitempty"`
	Firing  *held.Firing `json:"firing,omitempty"`
	// Winner is the holder that has claimed or run the firing.
	Winner  *winnerStatus  `json:"winner,omitempty"`
	Command *commandStatus `json:"command,omitempty"`
	// Released reports whether the permit was released. If not, its slot is freed when the permit expires.
	Released bool       `json:"released"`
	Started  time.Time  `json:"started_at"`
	Acquired *time.Time `json:"acquired_at,omitempty"`
	Ended    time.Time  `json:"ended_at"`
}

type winnerStatus struct {
	Group    string `json:"group"`
	Acquirer string `json:"acquirer"`
	HolderID string `json:"holder_id"`
	Token    string `json:"token"`
}

// commandStatus describes how the command ended.
type commandStatus struct {
	PID int `json:"pid"`
	// ExitCode is 128+n if signal n killed the command.
	ExitCode int       `json:"exit_code"`
	Signal   string    `json:"signal,omitempty"`
	Started  time.Time `json:"started_at"`
	Ended    time.Time `json:"ended_at"`
}

func (f firingClaim) status() *held.Firing {
	switch {
	case f.name == "":
		return nil
	case f.due.IsZero():
		return &held.Firing{Name: f.name}
	}
	return &held.Firing{Name: f.name, Due: &f.due}
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

// statusFile is the file for the status, or nil if there is none. newStatusFile checks that it can be written before
// the run starts.
type statusFile struct {
	path string
	temp string // the file that will replace path; empty if path is not a regular file and is written in place
}

func newStatusFile(path string) (*statusFile, error) {
	if path == "" {
		return nil, nil
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		if info, err = os.Stat(path); err == nil && info.Mode()&(fs.ModeDir|fs.ModeSocket) != 0 {
			return nil, ui.Usagef("--status-file: %s is a directory or a socket, not a file", path)
		}
		return &statusFile{path: path}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".gkctl-status-*")
	if err != nil {
		return nil, ui.Usagef("--status-file: %w", err)
	}
	return &statusFile{path: path, temp: f.Name()}, f.Close()
}

// write writes the status of a run that returned err. It returns err, joined with the error from writing, if any.
func (f *statusFile) write(s *runStatus, err error) error {
	if f == nil {
		return err
	}
	if err != nil {
		s.ExitCode, _ = ui.Classify(nil, err)
		s.Message = cmp.Or(s.Message, err.Error())
	}
	writeErr := f.put(s)
	if writeErr != nil {
		writeErr = fmt.Errorf("--status-file: %w", writeErr)
		if err == nil {
			return writeErr
		}
	}
	return withCode(errors.Join(err, writeErr), err)
}

func (f *statusFile) put(s *runStatus) error {
	if f.temp != "" {
		return ui.ReplaceFile(f.temp, f.path, s)
	}
	b, err := ui.IndentedJSON(s)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | syscall.O_NONBLOCK // a pipe may have no reader
	info, err := os.Stat(f.path)
	switch {
	case err != nil || !info.Mode().IsRegular():
	case strings.HasPrefix(f.path, "/dev/"), strings.HasPrefix(f.path, "/proc/"): // such as /dev/stdout, shared with the command
		flags |= os.O_APPEND
	default: // a symbolic link, which must not be replaced by a file
		flags |= os.O_TRUNC
	}
	file, err := os.OpenFile(f.path, flags, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	return errors.Join(err, file.Close())
}

// withCode adds the exit code and the hint of err to an error that joins err with others.
func withCode(joined, err error) error {
	if err == nil || joined == nil || joined.Error() == err.Error() {
		return err
	}
	code, hint := ui.Classify(nil, err)
	return &ui.CodeError{Code: code, Err: joined, Hint: hint}
}
