//go:build darwin || netbsd || openbsd || dragonfly

package child

import "syscall"

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
