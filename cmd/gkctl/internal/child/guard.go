//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The keywords of the protocol used on the guard's pipe. Each line consists of a keyword and a value.
const (
	keywordGroup   = "group"   // the group's id
	keywordUntil   = "until"   // the time until which the group may run, as returned by Now
	keywordCleanup = "cleanup" // the directory to remove
)

// guard is the wrapper's side of the guard process.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

func startGuard(command []string, cleanupDir string) (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer r.Close() // the guard has its own copy
	// The guard inherits only the pipe. It must not keep open an output that another process reads to end of file, pin
	// the working directory, or hold secrets.
	cmd := &exec.Cmd{Path: command[0], Args: command, Env: []string{}, Dir: "/", Stdin: r, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := children.add(func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	}); err != nil {
		_ = w.Close() // the error from Start is more useful
		return nil, fmt.Errorf("guard: %w", err)
	}
	g := &guard{cmd: cmd, pipe: w}
	if cleanupDir != "" {
		g.send(keywordCleanup, cleanupDir)
	}
	return g, nil
}

func (g *guard) sendGroup(pid int)          { g.send(keywordGroup, strconv.Itoa(pid)) }
func (g *guard) sendUntil(at time.Duration) { g.send(keywordUntil, strconv.FormatInt(int64(at), 10)) }

// send writes a line without blocking. It sets no deadline, because on a busy machine a deadline could expire before
// the write. The pipe is full only if the guard is stopped, and then the line would have no effect anyway. If the guard
// is dead, the other mechanisms still protect the group.
func (g *guard) send(word, value string) {
	line := []byte(word + " " + value + "\n") // short enough to be written atomically
	c, err := g.pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Write(func(fd uintptr) (done bool) {
		_, _ = syscall.Write(int(fd), line)
		return true
	})
}

// dismiss kills the guard when there is no longer a group to guard.
func (g *guard) dismiss() {
	_ = g.cmd.Process.Kill() // before closing the pipe, which would make the guard kill the group
	_ = g.cmd.Wait()         // always an error, because the guard was killed
	_ = g.pipe.Close()       // no data is buffered
	children.remove(g.cmd.Process.Pid)
}

// Guard runs the guard process's main loop. It reads the wrapper's messages from r. It kills the group at end of
// file on r, or when the group's time is up.
func Guard(r io.Reader) {
	// Signals that end the wrapper's session are meant for the wrapper, which the guard must outlive.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	g := guardState{until: 1<<63 - 1}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(g.check())
		select {
		case <-timer.C:
		case line, ok := <-lines:
			if !ok {
				g.kill()
				if g.cleanupDir != "" {
					_ = os.RemoveAll(g.cleanupDir) // there is nowhere to report an error
				}
				return
			}
			g.handle(line)
		}
	}
}

// guardState is the state of the guard process.
type guardState struct {
	group      int
	until      time.Duration
	cleanupDir string
}

func (g *guardState) handle(line string) {
	word, value, _ := strings.Cut(line, " ")
	switch n, err := strconv.ParseInt(value, 10, 64); {
	case word == keywordCleanup:
		g.cleanupDir = value
	case err != nil:
	case word == keywordGroup:
		g.group = int(n)
	case word == keywordUntil:
		g.until = time.Duration(n)
	}
}

// check kills the group if its time is up, and returns the time until the next check. That is at most a second, because
// timers stop while the machine is suspended.
func (g *guardState) check() time.Duration {
	left := g.until - Now()
	if left <= 0 {
		g.kill()
	}
	return max(min(left, time.Second), 10*time.Millisecond)
}

func (g *guardState) kill() {
	if g.group > 1 { // 0 and 1 would address our own group and every process
		_ = syscall.Kill(-g.group, syscall.SIGKILL) // fails if the group no longer exists
	}
}
