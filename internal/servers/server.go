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

// Server is one gatekeeperd. Its addresses stay the same when it is started again.
type Server struct {
	ID                     string
	API, Peer, HTTP, Admin string // host:port
	// FrontAPI and FrontPeer are where everybody else reaches it: API and Peer, unless Options.Front has put something
	// between.
	FrontAPI, FrontPeer string
	// Through, when it is set, is a command that runs the server given to it: one that enters another network, for
	// example.
	Through []string
	// Env is added to the environment.
	Env []string
	// Everywhere: it listens on all addresses of its machine, and not on those above alone, and lets everybody in.
	Everywhere bool

	binary, dir string
	secure      *Secure // nil: it is open
	args        []string

	mu   sync.Mutex // guards the fields below
	cmd  *exec.Cmd
	done chan struct{} // closed when the running process has ended
	err  error         // how it ended
	conn *grpc.ClientConn
}

// Start starts the process; it does not wait until it is ready. A server that was stopped or killed may be started
// again.
func (s *Server) Start() error {
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	line := slices.Concat(s.Through, []string{s.binary}, s.args)
	cmd := exec.Command(line[0], line[1:]...)
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

// Ready waits until the server says that it serves, and fails when it ends before.
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
		answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && answer.Status == healthpb.HealthCheckResponse_SERVING {
			return nil
		}
		select {
		case <-tick.C:
		case <-done:
			return fmt.Errorf("%s ended before it was ready: %w", s.ID, s.exit())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w", s.ID, errors.Join(ctx.Err(), err))
		}
	}
}

// Conn is a connection to the server's API, which lives as long as the cluster.
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

// Status is the server's own view of the cluster.
func (s *Server) Status(ctx context.Context) (*gatekeeperv1.GetStatusResponse, error) {
	conn, err := s.Conn()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return gatekeeperv1.NewClusterServiceClient(conn).GetStatus(ctx, &gatekeeperv1.GetStatusRequest{})
}

// PID is the process that was started last, also once it has ended; 0 before any was.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// Running reports whether the process has been started and has not ended. A suspended one is running.
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

// Kill is kill -9; it returns when the process is gone.
func (s *Server) Kill() {
	if s.Running() {
		_ = s.signal(syscall.SIGKILL) // it may have ended meanwhile
		<-s.done
	}
}

// Suspend stops the process where it stands (SIGSTOP), as a stalled machine would.
func (s *Server) Suspend() error { return s.signal(syscall.SIGSTOP) }

// Resume lets a suspended process go on (SIGCONT).
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT) }

// Data is the server's data folder.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Stop ends the server in the way an operator does, and fails when it does not exit within that time, or with another
// exit code than 0.
func (s *Server) Stop(within time.Duration) error {
	if err := s.terminate(); err != nil {
		return err
	}
	return s.ended(within)
}

// Exited is the exit code of the last process when it has exited; false while it runs, and when a signal ended it.
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

// LogTail is the end of what the server has written, for error messages.
func (s *Server) LogTail() string {
	f, err := os.Open(s.logFile())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	const most = 8 << 10
	if _, err := f.Seek(-most, io.SeekEnd); err != nil {
		_, err = f.Seek(0, io.SeekStart) // it is shorter than that
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

// terminate asks the process to end; one that has ended is left alone.
func (s *Server) terminate() error {
	if err := s.signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// ended waits for the end and says how it was; one that was killed before has ended well.
func (s *Server) ended(within time.Duration) error {
	select {
	case <-s.done:
	case <-time.After(within):
		s.Kill()
		return fmt.Errorf("%s did not end within %v of SIGTERM\n%s", s.ID, within, s.LogTail())
	}
	var exit *exec.ExitError
	if err := s.exit(); errors.As(err, &exit) && exit.Exited() {
		return fmt.Errorf("%s: %w\n%s", s.ID, err, s.LogTail())
	}
	return nil
}

func (s *Server) exit() error {
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
