package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/counted"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/run"
)

// columns is the header line of a tally. Each run adds a line below it.
const columns = "commit\tseed\tkind\tseconds\toperations\tunanswered\tgrants\tlast term\tfaults\tviolations\tundecided\tnetwork\tshared work\n"

// sharedColumn is the index of the last column. Tallies that predate shared tasks lack it.
const sharedColumn = 12

// head returns the current commit, which is the default for -commit. Outside a repository it returns "unknown".
func head() string {
	commit, err := exec.Command("git", "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(commit))
}

// sum summarizes a tally in the format of docs/reports/runs.md.
func sum(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var runs, operations, unanswered, grants, violations, undecided int
	faults, networks, work := map[string]int{}, map[string]int{}, map[string]int{}
	var first, last string // commits
	_, lines, _ := strings.Cut(string(text), "\n")
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != sharedColumn && len(fields) != sharedColumn+1 {
			return "", fmt.Errorf("%s: line %d is not a tally line", file, i+2)
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
		if err := add(faults, fields[8]); err != nil {
			return "", fmt.Errorf("%s: line %d: %w", file, i+2, err)
		}
		if len(fields) > sharedColumn {
			if err := add(work, fields[sharedColumn]); err != nil {
				return "", fmt.Errorf("%s: line %d: %w", file, i+2, err)
			}
		}
	}
	var totalFaults int
	for _, n := range faults {
		totalFaults += n
	}
	return fmt.Sprintf("%s to %s: %d runs (%s), %d operations (%d unanswered), %d grants\nshared work: %s\n%d faults: %s\n%d violations, %d undecided\n",
		first, last, runs, counted.Format(networks, ", "), operations, unanswered, grants, counted.Format(work, ", "), totalFaults, counted.Format(faults, ", "), violations, undecided), nil
}

// add parses counts in the format of counted.Format and adds them to counts.
func add(counts map[string]int, words string) error {
	for _, word := range strings.Split(words, ", ") {
		if count, what, ok := strings.Cut(word, " "); ok {
			n, err := strconv.Atoi(count)
			if err != nil {
				return err
			}
			counts[what] += n
		}
	}
	return nil
}

// appendTally appends a run to a tally file. An explicit log store becomes part of the kind, as in full-disk+wal.
func appendTally(file, commit, store string, r *run.Report, length time.Duration) error {
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
	shared := maps.Clone(r.Work)
	maps.Copy(shared, r.Disruptions)
	_, err = fmt.Fprintf(f, "%s\t%d\t%s\t%.0f\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%s\t%s\n", commit, r.Seed, kind, length.Seconds(),
		r.Operations, r.Unknown, r.Grants, r.LastTerm, counted.Format(r.Faults, ", "), len(r.Violations), len(r.Undecided), r.Network, counted.Format(shared, ", "))
	return err
}
