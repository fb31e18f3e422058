package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/run"
)

// columns are those of a tally: one line a run.
const columns = "commit\tseed\tkind\tseconds\toperations\tunanswered\tgrants\tlast term\tfaults\tviolations\tundecided\n"

// note adds a run to the tally in a file.
func note(file string, r *run.Report, length time.Duration) error {
	_, err := os.Stat(file)
	missing := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if missing {
		if _, err := f.WriteString(columns); err != nil {
			return err
		}
	}
	commit, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return fmt.Errorf("which commit was tried is not known: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s\t%d\t%s\t%.0f\t%d\t%d\t%d\t%d\t%s\t%d\t%d\n", strings.TrimSpace(string(commit)), r.Seed, r.Kind, length.Seconds(),
		r.Operations, r.Unknown, r.Grants, r.Terms, counted.Words(r.Faults, ", "), len(r.Violations), len(r.Undecided))
	return err
}
