package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// Server is a gatekeeperd process. It keeps its addresses when it is restarted.
type Server struct {
	ID                     string
	API, Peer, HTTP, Admin string // host:port
	// FrontAPI and FrontPeer are the addresses that others use. They are the same as API and Peer unless Options.Front
	// has put a proxy or a similar component in front of the server.
	FrontAPI, FrontPeer string
	// CommandPrefix, if set, is a command that runs the server, for example one that enters another network namespace.
	CommandPrefix []string
	// Env is added to the environment.
	Env []string
	// AllAddresses makes the server listen on all addresses of its machine instead of only those above. Without TLS,
	// the server then admits all callers.
	AllAddresses bool

	binary, dir string
	secure      *Secure // nil if the server is open
	args        []string

	mu   sync.Mutex // guards the fields below
	cmd  *exec.Cmd
	done chan struct{} // closed when the running process has exited
	err  error         // exit error of the process
	conn *grpc.ClientConn
}

// Start starts the process without waiting until it is ready. A server that was stopped or killed can be started again.
func (s *Server) Start() error {
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own copy
	argv := slices.Concat(s.CommandPrefix, []string{s.binary}, s.args)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.dir
	if len(s.Env) > 0 {
		cmd.Env = append(os.Environ(), s.Env...)
	}
	cmd.Stdout, cmd.Stderr = log, log
	DieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.ID, err)
	}
	done := make(chan struct{})
	s.mu.Lock()
	s.cmd, s.done = cmd, done
	s.mu.Unlock()
	go func() {
		err := cmd.Wait()
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		close(done)
	}()
	return nil
}

// Ready waits until the server reports that it is serving. It fails if the process exits first.
func (s *Server) Ready(ctx context.Context) error {
	conn, err := s.Conn()
	if err != nil {
		return err
	}
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && resp.Status == healthpb.HealthCheckResponse_SERVING {
			return nil
		}
		select {
		case <-tick.C:
		case <-done:
			return fmt.Errorf("%s exited before it was ready: %w", s.ID, s.exitError())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", s.ID, errors.Join(ctx.Err(), err))
		}
	}
}

// Conn returns a connection to the server's API. It is closed with the cluster.
func (s *Server) Conn() (*grpc.ClientConn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		creds := insecure.NewCredentials()
		if s.secure != nil {
			creds = s.secure.Credentials()
		}
		conn, err := grpc.NewClient("passthrough:///"+s.API, grpc.WithTransportCredentials(creds))
		if err != nil {
			return nil, err
		}
		s.conn = conn
	}
	return s.conn, nil
}

// Status returns the cluster's status as this server sees it.
func (s *Server) Status(ctx context.Context) (*gatekeeperv1.GetStatusResponse, error) {
	conn, err := s.Conn()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return gatekeeperv1.NewClusterServiceClient(conn).GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
}

// PID returns the id of the most recent process, even if it has exited, or 0 if none was started.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// Running reports whether the process was started and has not exited. A suspended process is running.
func (s *Server) Running() bool {
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	if done == nil {
		return false
	}
	select {
	case <-done:
		return false
	default:
		return true
	}
}

// Kill kills the process (SIGKILL) and waits until it has exited.
func (s *Server) Kill() {
	if s.Running() {
		_ = s.signal(syscall.SIGKILL) // it may have exited in the meantime
		<-s.done
	}
}

// Suspend suspends the process (SIGSTOP), as if its machine had stalled.
func (s *Server) Suspend() error { return s.signal(syscall.SIGSTOP) }

// Resume resumes a suspended process (SIGCONT).
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

// Data returns the server's data directory.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Stop terminates the server the way an operator would. It fails if the server does not exit within the given time, or
// exits with a code other than 0.
func (s *Server) Stop(timeout time.Duration) error {
	if err := s.terminate(); err != nil {
		return err
	}
	return s.awaitStop(timeout)
}

// Exited returns the exit code of the most recent process. It returns false while the process is running, or if the
// process was killed by a signal.
func (s *Server) Exited() (code int, ok bool) {
	if s.Running() {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil || s.cmd.ProcessState == nil {
		return 0, false
	}
	return s.cmd.ProcessState.ExitCode(), s.cmd.ProcessState.Exited()
}

// LogTail returns the end of the server's log, for error messages.
func (s *Server) LogTail() string {
	f, err := os.Open(s.logFile())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	const maxTail = 8 << 10
	if _, err := f.Seek(-maxTail, io.SeekEnd); err != nil {
		_, err = f.Seek(0, io.SeekStart) // the log is shorter
		if err != nil {
			return err.Error()
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

func (s *Server) signal(sig os.Signal) error {
	s.mu.Lock()
	cmd := s.cmd
	s.mu.Unlock()
	if cmd == nil {
		return fmt.Errorf("%s was never started", s.ID)
	}
	return cmd.Process.Signal(sig)
}

// terminate sends SIGTERM, unless the process has already exited.
func (s *Server) terminate() error {
	if err := s.signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// awaitStop waits for the process to exit and returns its error. A process that was killed by a signal is not
// considered to have failed.
func (s *Server) awaitStop(timeout time.Duration) error {
	select {
	case <-s.done:
	case <-time.After(timeout):
		s.Kill()
		return fmt.Errorf("%s did not exit within %v of SIGTERM\n%s", s.ID, timeout, s.LogTail())
	}
	var exit *exec.ExitError
	if err := s.exitError(); errors.As(err, &exit) && exit.Exited() {
		return fmt.Errorf("%s: %w\n%s", s.ID, err, s.LogTail())
	}
	return nil
}

func (s *Server) exitError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return errors.New("exit code 0")
	}
	return s.err
}

func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}
