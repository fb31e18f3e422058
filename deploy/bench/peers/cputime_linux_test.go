package main

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A process's CPU time includes its children's and increases as they run.
func TestCPUTime_IncludesChildProcesses(t *testing.T) {
	shell := exec.Command("sh", "-c", "(while :; do :; done) & wait $!")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }() // kill the rest of the process group
	pid := shell.Process.Pid
	for used := time.Duration(0); used < 20*time.Millisecond; { // bounded by the test timeout
		var err error
		if used, err = cpuTime([]int{pid}); err != nil {
			t.Error(err)
			break
		}
	}
	children, err := childrenOf(pid)
	if err != nil || len(children) != 1 {
		t.Errorf("got %d children (%v), want 1", len(children), err)
	}
	for _, child := range children {
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if err := shell.Wait(); len(children) > 0 && err == nil {
		t.Error("the shell succeeded even though its child was killed")
	}
	if _, err := cpuTime([]int{pid}); err == nil {
		t.Error("cpuTime() = nil, want an error for an exited process")
	}
}
