package work

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
)

// Words counts the words in the files under GOROOT, with one task per file. During the run, workers join, leave and are
// killed, and the leader and the submitter are killed and restarted. The results are compared with a direct count.
type Words struct {
	sharedWork
	files int

	submitter *stage.Process
	killed    []*stage.Process
}

// Flags defines the scenario's flags.
func (s *Words) Flags(f *flag.FlagSet) {
	s.Stage.Flags(f, 3*time.Second)
	f.IntVar(&s.files, "tasks", 10_000, "maximum number of files to count, one task per file")
	f.IntVar(&s.workers, "workers", 4, "initial number of workers")
	f.IntVar(&s.parallel, "parallel", 4, "maximum number of tasks per worker at a time")
	f.StringVar(&s.root, "root", "", "directory containing the files to count; default is GOROOT")
}

// Play runs the scenario.
func (s *Words) Play(ctx context.Context) error {
	if s.files < 100 || s.workers < 3 || s.parallel < 1 || s.Duration < time.Second {
		return errors.New("the scenario requires -tasks 100 or more, -workers 3 or more, -parallel 1 or more, and a -duration of 1s or more")
	}
	if s.root == "" {
		out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
		if err != nil {
			return fmt.Errorf("GOROOT was not found; specify a directory with -root: %w", err)
		}
		s.root = strings.TrimSpace(string(out))
	}
	s.semaphore, s.permits = "words", (s.workers+2)*s.parallel
	return s.Run(ctx, s.play)
}

func (s *Words) play(ctx context.Context) error {
	files, err := filesOf(s.root, s.files)
	if err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	if err := s.startWorkers(ctx); err != nil {
		return err
	}
	if s.submitter, err = s.submit(ctx, &submitter{Name: "submitter", Files: len(files)}); err != nil {
		return err
	}
	if _, err := await(ctx, s.submitter, "the submission", func(r stage.Record) bool { return r.Event == submitted }); err != nil {
		return err
	}
	began := boottime.Now()
	s.Logf("submitted a job with %d tasks, each counting the words in a file under %s", len(files), s.root)
	if err := s.applyChanges(ctx, len(files)); err != nil {
		return err
	}
	if err := s.submitter.Wait(stepTimeout); err != nil {
		return err
	}
	took := boottime.Now() - began
	s.Logf("the job is done")
	counts, total, err := s.count(files)
	if err != nil {
		return err
	}
	s.Row("job", "%d tasks in %.1fs, %d words", len(files), took.Seconds(), total)
	e, err := s.evidence(ctx, []string{wordsJob}, len(files))
	if err != nil {
		return err
	}
	if err := s.End(ctx, syscall.SIGTERM, stepTimeout); err != nil {
		return err
	}
	e.add(s.Lives())
	e.wrong = func(t task, result string) string {
		if result != counts[t.index] {
			return fmt.Sprintf("%s has %s words, but the result is %q", files[t.index], counts[t.index], result)
		}
		return ""
	}
	e.judge(&s.Report)
	e.checkTakeovers(&s.Report, len(s.killed))
	return nil
}

// count counts the words directly, for each file and in total.
func (s *Words) count(files []string) (counts []string, total int, err error) {
	for _, file := range files {
		n, err := countWords(filepath.Join(s.root, file))
		if err != nil {
			return nil, 0, err
		}
		counts, total = append(counts, strconv.Itoa(n)), total+n
	}
	return counts, total, nil
}
