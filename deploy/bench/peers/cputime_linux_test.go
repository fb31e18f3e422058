package main

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// The CPU time of a process is that of those that it has started, too, and grows as they compute.
func TestCPUTime_CountsTheChildrenOfAProcess(t *testing.T) {
	shell := exec.Command("sh", "-c", "(while :; do :; done) & wait $!")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }() // what is left of its group
	pid := shell.Process.Pid
	for taken := time.Duration(0); taken < 20*time.Millisecond; { // or the time limit of all tests ends it
		var err error
		if taken, err = cpuTime([]int{pid}); err != nil {
			t.Error(err)
			break
		}
	}
	children, err := childrenOf(pid)
	if err != nil || len(children) != 1 {
		t.Errorf("%d children (%v), want 1", len(children), err)
	}
	for _, child := range children {
		if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if err := shell.Wait(); len(children) > 0 && err == nil {
		t.Error("the shell's child was killed, and it says nothing of it")
	}
	if _, err := cpuTime([]int{pid}); err == nil {
		t.Error("the time of a process that has ended is told")
	}
}
