package servers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Recover runs gatekeeperd recover on the data directories of stopped servers. It returns the new cluster's server,
// which has not been started yet, and the command's output. The new server has the addresses of the first server in
// from.
func Recover(id string, from []*Server, args ...string) (*Server, string, error) {
	first := from[0]
	s := &Server{ID: id, API: first.API, Peer: first.Peer, HTTP: first.HTTP, Admin: first.Admin, binary: first.binary, secure: first.secure, dir: filepath.Join(filepath.Dir(first.dir), id)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, "", err
	}
	s.args = []string{"--id", id, "--data-dir", s.Data(), "--api-address", s.API, "--peer-address", s.Peer,
		"--http-address", s.HTTP, "--admin-address", s.Admin}
	if s.secure != nil {
		files, err := s.secure.args(id, s.API, s.Peer)
		if err != nil {
			return nil, "", err
		}
		s.args = append(s.args, files...)
	}
	all := []string{"recover", "--id", id, "--data-dir", s.Data()}
	for _, old := range from {
		all = append(all, "--from", old.Data())
	}
	out, err := exec.Command(s.binary, append(all, args...)...).CombinedOutput()
	if err != nil {
		return nil, "", fmt.Errorf("recover: %w\n%s", err, out)
	}
	return s, string(out), nil
}

// WaitExit waits until the process has exited or ctx ends, and returns the exit code, or -1 if a signal killed it.
func (s *Server) WaitExit(ctx context.Context) (code int, err error) {
	s.mu.Lock()
	cmd, done := s.cmd, s.done
	s.mu.Unlock()
	select {
	case <-done:
		return cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%s is still running\n%s", s.ID, s.LogTail())
	}
}
