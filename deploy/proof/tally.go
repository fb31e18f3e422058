package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/run"
)

// columns are those of a tally: one line a run.
const columns = "commit\tseed\tkind\tseconds\toperations\tunanswered\tgrants\tlast term\tfaults\tviolations\tundecided\tnetwork\n"

// head is the commit that is tried when -commit does not name one; "unknown" outside a repository.
func head() string {
	commit, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(commit))
}

// sum says what a tally comes to, in the words of docs/reliability.md.
func sum(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var runs, operations, unanswered, grants, violations, undecided int
	faults, networks := map[string]int{}, map[string]int{}
	var first, last string // commits
	for i, line := range strings.Split(strings.TrimSpace(strings.TrimPrefix(string(text), columns)), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != strings.Count(columns, "\t")+1 {
			return "", fmt.Errorf("%s: line %d is no line of a tally", file, i+2)
		}
		runs++
		if last = fields[0]; first == "" {
			first = last
		}
		for j, n := range map[int]*int{4: &operations, 5: &unanswered, 6: &grants, 9: &violations, 10: &undecided} {
			count, err := strconv.Atoi(fields[j])
			if err != nil {
				return "", fmt.Errorf("%s: line %d: %w", file, i+2, err)
			}
			*n += count
		}
		networks[fields[11]]++
		for _, fault := range strings.Split(fields[8], ", ") {
			if count, kind, ok := strings.Cut(fault, " "); ok {
				n, err := strconv.Atoi(count)
				if err != nil {
					return "", fmt.Errorf("%s: line %d: %w", file, i+2, err)
				}
				faults[kind] += n
			}
		}
	}
	var done int
	for _, n := range faults {
		done += n
	}
	return fmt.Sprintf("%s to %s: %d runs (%s), %d operations (%d unanswered), %d grants\n%d faults: %s\n%d violations, %d undecided\n",
		first, last, runs, counted.Words(networks, ", "), operations, unanswered, grants, done, counted.Words(faults, ", "), violations, undecided), nil
}

// note adds a run to the tally in a file. A log store that was asked for is told with the kind: full-disk+wal.
func note(file, commit, store string, r *run.Report, length time.Duration) error {
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
	kind := r.Kind
	if store != "" {
		kind += "+" + store
	}
	_, err = fmt.Fprintf(f, "%s\t%d\t%s\t%.0f\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%s\n", commit, r.Seed, kind, length.Seconds(),
		r.Operations, r.Unknown, r.Grants, r.Terms, counted.Words(r.Faults, ", "), len(r.Violations), len(r.Undecided), r.Network)
	return err
}
