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

// The keywords on the pipe. Each line is a keyword and a value.
const (
	wordGroup   = "group"   // the group's id
	wordUntil   = "until"   // the reading of Now until which the group may run
	wordRubbish = "rubbish" // the folder to remove
)

// guard is the wrapper's side of the guard process.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
}

func startGuard(command []string, rubbish string) (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer r.Close() // the guard has a copy
	// It inherits only the pipe: no output that somebody reads to its end, no folder, no secrets.
	cmd := &exec.Cmd{Path: command[0], Args: command, Env: []string{}, Dir: "/", Stdin: r, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := ours.add(func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	}); err != nil {
		_ = w.Close() // the error of the start says more
		return nil, fmt.Errorf("guard: %w", err)
	}
	g := &guard{cmd: cmd, pipe: w}
	if rubbish != "" {
		g.send(wordRubbish, rubbish)
	}
	return g, nil
}

func (g *guard) group(pid int)          { g.send(wordGroup, strconv.Itoa(pid)) }
func (g *guard) until(at time.Duration) { g.send(wordUntil, strconv.FormatInt(int64(at), 10)) }

// send writes a line without blocking and without a deadline, which could expire before the write on a busy machine.
// The pipe is full only if the guard is stopped, and a stopped guard acts on nothing. A dead guard protects nothing;
// the other mechanisms remain.
func (g *guard) send(word, value string) {
	line := []byte(word + " " + value + "\n") // written whole, or not at all
	c, err := g.pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Write(func(fd uintptr) (done bool) {
		_, _ = syscall.Write(int(fd), line)
		return true
	})
}

// dismiss ends the guard when there is nothing left to guard.
func (g *guard) dismiss() {
	_ = g.cmd.Process.Kill() // before the pipe closes, so that it does not kill the group
	_ = g.cmd.Wait()         // its error is that it was killed
	_ = g.pipe.Close()       // nothing is buffered
	ours.remove(g.cmd.Process.Pid)
}

// Guard is the main loop of the guard process. It reads from r what the wrapper sends. It kills the group at the end of
// r, or at the time until which the group may run.
func Guard(r io.Reader) {
	// Signals that end the wrapper's session are meant for the wrapper. The guard must outlive it.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM,
		syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	g := guarded{until: 1<<63 - 1}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(g.check())
		select {
		case <-timer.C:
		case line, ok := <-lines:
			if !ok {
				g.kill()
				if g.rubbish != "" {
					_ = os.RemoveAll(g.rubbish) // errors cannot be reported
				}
				return
			}
			g.hear(line)
		}
	}
}

// guarded is what a guard knows.
type guarded struct {
	group   int
	until   time.Duration
	rubbish string
}

func (g *guarded) hear(line string) {
	word, value, _ := strings.Cut(line, " ")
	switch n, err := strconv.ParseInt(value, 10, 64); {
	case word == wordRubbish:
		g.rubbish = value
	case err != nil:
	case word == wordGroup:
		g.group = int(n)
	case word == wordUntil:
		g.until = time.Duration(n)
	}
}

// check kills a group whose time is over, and returns when to check again: soon, because timers stop while the machine
// is suspended.
func (g *guarded) check() time.Duration {
	left := g.until - Now()
	if left <= 0 {
		g.kill()
	}
	return max(min(left, time.Second), 10*time.Millisecond)
}

func (g *guarded) kill() {
	if g.group > 1 { // 0 and 1 would mean our own group and every process
		_ = syscall.Kill(-g.group, syscall.SIGKILL) // it may be gone
	}
}
