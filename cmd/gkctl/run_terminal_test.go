//go:build linux || darwin || freebsd

package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"
)

// screen is a terminal that runs an interactive shell. The test types the input.
type screen struct {
	*runTest
	tty *os.File

	mu   sync.Mutex // guards text and seen
	text strings.Builder
	seen int // the length of the text that await has already matched
}

const prompt = "at your service> "

// newScreen starts a shell and kills it at the end of the test.
func newScreen(r *runTest, shell string, args ...string) *screen {
	r.Helper()
	cmd := exec.Command(shell, args...)
	cmd.Dir, cmd.Env = r.dir, append(r.env, "PS1="+prompt, "TERM=dumb", "ENV=", "HISTFILE=")
	tty, err := pty.Start(cmd) // in a separate session, like a login shell
	if err != nil {
		r.Fatal(err)
	}
	s := &screen{runTest: r, tty: tty}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s, tty) // until the last process closes the terminal
	}()
	r.Cleanup(func() {
		_ = tty.Close() // hangs up the remaining processes
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		<-read
		if r.Failed() {
			r.Logf("final screen:\n%s", s.text.String())
		}
	})
	s.await(prompt)
	return s
}

// Write appends terminal output to the screen.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// typeKeys writes keys to the terminal.
func (s *screen) typeKeys(keys string) {
	s.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.Fatal(err)
	}
}

// await waits until words appear in the output after the previous match.
func (s *screen) await(words string) {
	s.Helper()
	s.until("terminal output "+words, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		at := strings.Index(s.text.String()[s.seen:], words)
		if at >= 0 {
			s.seen += at + len(words)
		}
		return at >= 0
	})
}

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// forEachShell runs a test with sh and bash if they are available, because the two resume jobs in different ways.
func forEachShell(t *testing.T, test func(t *testing.T, s *screen)) {
	for name, args := range map[string][]string{"sh": {"-i"}, "bash": {"--norc", "--noprofile", "-i"}} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			test(t, newScreen(newRunTest(t, `{name: job, permits: 1, duration: 20s}`), path, args...))
		})
	}
}

// conversation is a command that reads from the terminal. The question is split in two so that the echo of the typed
// command does not match it.
const conversation = `gkctl run job -- sh -c 'echo "are you th""ere?"; while read l; do echo "heard <""$l>"; done'` + "\n"

// startConversation starts the conversation command and waits for a reply, because input typed right after a command is
// started may still go to the shell.
func (s *screen) startConversation() {
	s.Helper()
	s.typeKeys(conversation)
	s.await("are you there?")
	s.typeKeys("zero\n")
	s.await("heard <zero>")
}

// awaitStopped waits until the shell reports its job as stopped.
func (s *screen) awaitStopped() {
	s.Helper()
	s.until("the job to stop", func() bool {
		s.mu.Lock()
		from := s.seen
		s.mu.Unlock()
		s.typeKeys("jobs; echo th''at is all\n")
		s.await("that is all")
		s.await(prompt)
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.text.String()[from:s.seen], "Stopped")
	})
}

func TestRunTerminal_CtrlZAndFg_SuspendsAndResumesCommand(t *testing.T) {
	t.Parallel()
	forEachShell(t, func(_ *testing.T, s *screen) {
		s.startConversation()
		for _, word := range []string{"one", "two", "three"} {
			s.typeKeys(ctrlZ)
			s.await(prompt)
			s.typeKeys("echo the shell is he''re\n")
			s.await("the shell is here")
			s.await(prompt)
			s.typeKeys("fg\n")
			s.typeKeys(word + "\n")
			s.await("heard <" + word + ">")
		}
		s.typeKeys(ctrlC)
		s.await(prompt)
		s.typeKeys("echo code $?.\n")
		s.await("code 130.")
	})
}

func TestRunTerminal_Bg_CommandReadingInputStopsUntilFg(t *testing.T) {
	t.Parallel()
	forEachShell(t, func(_ *testing.T, s *screen) {
		s.startConversation()
		s.typeKeys(ctrlZ)
		s.await(prompt)
		s.typeKeys("bg\n")
		s.await(prompt)
		s.awaitStopped() // a background process that reads from the terminal is stopped
		s.typeKeys("fg\n")
		s.typeKeys("again\n")
		s.await("heard <again>")
		s.typeKeys(ctrlC)
		s.await(prompt)
	})
}

func TestRunTerminal_CtrlC_StopsCommandAndReleasesPermit(t *testing.T) {
	t.Parallel()
	forEachShell(t, func(_ *testing.T, s *screen) {
		s.startConversation()
		s.typeKeys(ctrlC)
		s.await(prompt)
		s.typeKeys("gkctl run --on-denied fail job -- echo the permit is fr''ee\n")
		s.await("the permit is free")
	})
}
