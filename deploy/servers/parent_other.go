//go:build !linux

package servers

import "os/exec"

// dieWithParent does nothing where the kernel knows no parent-death signal.
func dieWithParent(*exec.Cmd) {}
