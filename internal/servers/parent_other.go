//go:build !linux

package servers

import "os/exec"

// DieWithParent does nothing, because the kernel has no parent-death signal.
func DieWithParent(*exec.Cmd) {}
