//go:build !linux

package servers

import "os/exec"

// DieWithParent does nothing where the kernel knows no parent-death signal.
func DieWithParent(*exec.Cmd) {}
