package docs

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell is a bash process that runs the commands on a page one after another, so that later commands see the variables
// that earlier ones set.
type shell struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
	count int
}

// startShell starts bash in dir. Its background processes are killed when the test ends.
func startShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	s := &shell{cmd: exec.Command("bash", "--noprofile", "--norc"), lines: make(chan string)}
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, w := io.Pipe()
	s.in, s.cmd.Stdout, s.cmd.Stderr = in, w, w
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		_ = w.Close()
		for range s.lines { // drain, so that the copying goroutine exits
		}
		_ = s.cmd.Wait()
	})
	return s
}

// run runs one command and returns its combined output and exit code.
func (s *shell) run(text string, within time.Duration) ([]string, int, error) {
	s.count++
	mark := fmt.Sprintf("--- command %d ended with ", s.count)
	// The extra newline puts the mark on its own line even if the output does not end with a newline.
	if _, err := fmt.Fprintf(s.in, "%s\nprintf '\\n%s%%d\\n' $? </dev/null\n", text, mark); err != nil {
		return nil, 0, err
	}
	timeout := time.After(within)
	var got []string
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return got, 0, fmt.Errorf("the shell has exited")
			}
			if code, ok := strings.CutPrefix(line, mark); ok {
				var exit int
				_, err := fmt.Sscan(code, &exit)
				return trim(got), exit, err
			}
			got = append(got, line)
		case <-timeout:
			return got, 0, fmt.Errorf("timed out after %v", within)
		}
	}
}

// trim removes trailing blank lines.
func trim(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
