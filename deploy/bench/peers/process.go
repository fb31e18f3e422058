package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// process is a server process of a peer. It is killed when this program exits for any reason.
type process struct {
	name    string
	logFile string
	cmd     *exec.Cmd
	done    chan struct{} // closed when the process exits
	err     error         // exit error; valid after done is closed
}

// run starts a server in an existing directory and writes its output to a file next to the directory.
func run(name, dir string, as *syscall.Credential, program string, args ...string) (*process, error) {
	p := &process{name: name, logFile: filepath.Clean(dir) + ".log", done: make(chan struct{})}
	log, err := os.OpenFile(p.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own copy
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, log, log
	servers.DieWithParent(p.cmd)
	if as != nil {
		if p.cmd.SysProcAttr == nil {
			p.cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		p.cmd.SysProcAttr.Credential = as
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func pids(processes ...*process) []int {
	var all []int
	for _, p := range processes {
		all = append(all, p.cmd.Process.Pid)
	}
	return all
}

// kill kills the process with SIGKILL and waits for it to exit.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have exited already
	<-p.done
}

// stop sends the process a termination signal and kills it if it does not exit in time.
func (p *process) stop(sig os.Signal) {
	_ = p.cmd.Process.Signal(sig) // it may have exited already
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.kill()
	}
}

// failed adds the last lines of the process's output to an error.
func (p *process) failed(err error) error {
	select {
	case <-p.done:
		err = errors.Join(fmt.Errorf("%s exited: %w", p.name, p.err), err)
	default:
	}
	text, readErr := os.ReadFile(p.logFile)
	const maxLog = 4 << 10
	return errors.Join(fmt.Errorf("%s: %w\n%s", p.name, err, text[max(0, len(text)-maxLog):]), readErr)
}
