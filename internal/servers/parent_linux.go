package servers

import (
	"os/exec"
	"syscall"
)

// DieWithParent makes the kernel kill the process when its parent exits, so that a killed test leaves no servers
// running.
func DieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
