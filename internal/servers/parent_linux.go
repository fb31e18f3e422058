package servers

import (
	"os/exec"
	"syscall"
)

// DieWithParent makes the kernel end the process when the one that started it is gone: a killed test leaves no servers
// behind.
func DieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
