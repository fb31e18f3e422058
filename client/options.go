package client

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/internal/tlsfiles"
)

// Default settings, and the environment variables that override them.
const (
	DefaultPort     = "7420"
	DefaultEndpoint = "127.0.0.1:" + DefaultPort // or GK_ENDPOINTS, separated by commas
	DefaultGroup    = "default"                  // or GK_GROUP

	// DefaultAttemptTimeout bounds each attempt of a call; the context bounds the whole call.
	DefaultAttemptTimeout = 5 * time.Second
)

// Option is an option for Dial.
type Option interface{ dial(*settings) error }

// AcquireOption is an option for one acquisition, or for all acquisitions of a Semaphore.
type AcquireOption interface{ acquire(*acquisition) }

// SharedOption is an option for one acquisition or, if passed to Dial, the default for all acquisitions.
type SharedOption func(*acquisition)

func (o SharedOption) dial(s *settings) error { o(&s.defaults); return nil }
func (o SharedOption) acquire(a *acquisition) { o(a) }

type dialOption func(*settings) error

func (o dialOption) dial(s *settings) error { return o(s) }

// settings holds the options passed to Dial.
type settings struct {
	endpoints      []string
	defaults       acquisition
	files          *TLS // nil: not set
	plaintext      bool
	tls            *tlsfiles.Latest // nil: plain text
	bearer         bearer           // nil: no bearer token
	bearerSet      bool             // set by an option, so the environment variables do not apply
	attemptTimeout time.Duration
	clock          Clock
	logger         *slog.Logger
	grpc           []grpc.DialOption
	unbatched      bool
	cluster        string
	submitBuffer   int
}

func newSettings(endpoints []string, opts []Option) (*settings, error) {
	s := &settings{attemptTimeout: DefaultAttemptTimeout, submitBuffer: DefaultSubmitBuffer, clock: systemClock(), logger: slog.Default()}
	s.defaults.group = os.Getenv("GK_GROUP")
	s.defaults.acquirer = os.Getenv("GK_ACQUIRER")
	if id := os.Getenv("GK_CLUSTER"); id != "" {
		opts = append([]Option{WithCluster(id)}, opts...)
	}
	for _, o := range opts {
		if err := o.dial(s); err != nil {
			return nil, err
		}
	}
	if err := s.secure(); err != nil {
		return nil, err
	}
	if err := s.authenticate(); err != nil {
		return nil, err
	}
	s.defaults.group = cmp.Or(s.defaults.group, DefaultGroup)
	if s.defaults.acquirer == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("cannot determine the host name (set GK_ACQUIRER or use WithAcquirer): %w", err)
		}
		s.defaults.acquirer = host
	}
	if len(endpoints) == 0 {
		endpoints = strings.Split(os.Getenv("GK_ENDPOINTS"), ",")
	}
	for _, e := range endpoints {
		if e = strings.TrimSpace(e); e != "" {
			if err := checkEndpoint(e); err != nil {
				return nil, err
			}
			s.endpoints = append(s.endpoints, withPort(e))
		}
	}
	if len(s.endpoints) == 0 {
		s.endpoints = []string{DefaultEndpoint}
	}
	return s, nil
}

// withPort adds the default port to an endpoint without a port. An endpoint with a gRPC scheme is returned unchanged.
func withPort(endpoint string) string {
	if hasScheme(endpoint) {
		return endpoint
	}
	if _, _, err := net.SplitHostPort(endpoint); err == nil {
		return endpoint
	}
	return net.JoinHostPort(strings.Trim(endpoint, "[]"), DefaultPort)
}

func hasScheme(endpoint string) bool {
	return strings.Contains(endpoint, "://") || strings.HasPrefix(endpoint, "unix:")
}

// checkEndpoint rejects endpoints that would make every call fail with an unclear error.
func checkEndpoint(endpoint string) error {
	if strings.HasPrefix(endpoint, "http://") || strings.HasPrefix(endpoint, "https://") {
		return fmt.Errorf("endpoint %q: specify host:port without a scheme; use WithTLS for TLS", endpoint)
	}
	if hasScheme(endpoint) {
		return nil
	}
	if _, port, err := net.SplitHostPort(endpoint); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("endpoint %q: the port must be a number from 1 to 65535", endpoint)
		}
	}
	return nil
}

// WithGroup sets the caller's group. The default is GK_GROUP, or "default".
func WithGroup(group string) SharedOption { return func(a *acquisition) { a.group = group } }

// WithAcquirer sets the caller's name. The default is GK_ACQUIRER, or the host name.
func WithAcquirer(acquirer string) SharedOption {
	return func(a *acquisition) { a.acquirer = acquirer }
}

// WithStopTime sets how long before the local deadline a permit's context ends if no refresh gets through. It should
// cover the time that the job needs to stop or be killed. The default is a fifth of the permit's duration, but at most
// 10 s. An acquisition fails with a *StopTimeError if the stop time is more than half of the permit's duration.
func WithStopTime(d time.Duration) SharedOption { return func(a *acquisition) { a.stopTime = d } }

// WithAttemptTimeout bounds each attempt of a call. The default is DefaultAttemptTimeout.
func WithAttemptTimeout(d time.Duration) Option {
	return dialOption(func(s *settings) error {
		if d <= 0 {
			return errors.New("WithAttemptTimeout must be greater than 0")
		}
		s.attemptTimeout = d
		return nil
	})
}

// WithSubmitBuffer limits the number of job submissions that wait while no server is responding. Further submissions
// fail with a *SubmitBufferError. The default is DefaultSubmitBuffer. Each submission waits until a server responds or
// its context ends, and keeps its tasks in memory.
func WithSubmitBuffer(submissions int) Option {
	return dialOption(func(s *settings) error {
		if submissions < 1 {
			return errors.New("WithSubmitBuffer must be greater than 0")
		}
		s.submitBuffer = submissions
		return nil
	})
}

// WithClock replaces the clock that measures how long permits last. It is for tests.
func WithClock(c Clock) Option {
	return dialOption(func(s *settings) error { s.clock = c; return nil })
}

// WithLogger sets the logger for events that no call reports, such as jobs that stall or run without a permit, and
// releases that did not get through. The default is slog.Default().
func WithLogger(l *slog.Logger) Option {
	return dialOption(func(s *settings) error {
		if l == nil {
			return errors.New("WithLogger requires a logger; use slog.DiscardHandler to discard the logs")
		}
		s.logger = l
		return nil
	})
}

// WithGRPC adds dial options to every connection.
func WithGRPC(opts ...grpc.DialOption) Option {
	return dialOption(func(s *settings) error { s.grpc = append(s.grpc, opts...); return nil })
}

// WithCallsAlone makes each TryAcquire a separate gRPC call. Without it, goroutines that are denied the same semaphores
// at the same time send their requests in batches. Batches cost the client and the servers much less. The only other
// difference is that a unary interceptor set by WithGRPC sees BatchTryAcquire, without its requests, rather than each
// TryAcquire.
func WithCallsAlone() Option {
	return dialOption(func(s *settings) error { s.unbatched = true; return nil })
}

// TLS names the PEM files for TLS connections. They are reread for each handshake, so that certificates and authorities
// can be renewed while a Client is running. If a file cannot be used at that time, its last usable contents are used.
type TLS struct {
	// CAFile contains the authorities trusted to sign server certificates. If empty, the system's authorities are used.
	CAFile string
	// CertFile and KeyFile are the client's certificate and key. Set both or neither.
	CertFile, KeyFile string
	// ServerName is the name required in the servers' certificates. If it is empty, the host of each endpoint is
	// used.
	ServerName string
}

// WithTLS makes every connection use TLS 1.3. By default, TLS is used with GK_TLS_CA, GK_TLS_CERT, GK_TLS_KEY and
// GK_TLS_SERVER_NAME if any of them is set. WithTLS replaces all of them. If a certificate is rejected, the calls fail
// with a *CertificateError; if a file cannot be read, Dial fails.
func WithTLS(t TLS) Option {
	return dialOption(func(s *settings) error { s.files, s.plaintext = &t, false; return nil })
}

// WithPlaintext makes connections without TLS, even if the environment variables for TLS and bearer tokens are set.
func WithPlaintext() Option {
	return dialOption(func(s *settings) error { s.files, s.plaintext = nil, true; return nil })
}

// secure reads the TLS files, if there are any.
func (s *settings) secure() (err error) {
	if s.files == nil && !s.plaintext {
		t := TLS{
			CAFile: os.Getenv("GK_TLS_CA"), CertFile: os.Getenv("GK_TLS_CERT"), KeyFile: os.Getenv("GK_TLS_KEY"), ServerName: os.Getenv("GK_TLS_SERVER_NAME"),
		}
		if t != (TLS{}) {
			s.files = &t
		}
	}
	if s.files != nil {
		s.tls, err = tlsfiles.New(s.files.config)
	}
	return err
}

func (t TLS) config() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: t.ServerName}
	if t.CAFile != "" {
		pool, err := tlsfiles.Pool(t.CAFile)
		if err != nil {
			return nil, err
		}
		cfg.RootCAs = pool
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		return nil, errors.New("specify both a TLS certificate and a key, or neither")
	}
	if t.CertFile != "" {
		pair, err := tlsfiles.Pair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, err
		}
		// The certificate is sent even if the server does not list its authority. A server that rejects the certificate
		// reports why. Without a certificate, it would only report that one is missing.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return cfg, nil
}
