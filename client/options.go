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

// Defaults and the environment variables that replace them.
const (
	DefaultPort     = "7420"
	DefaultEndpoint = "127.0.0.1:" + DefaultPort // or GK_ENDPOINTS, separated by commas
	DefaultGroup    = "default"                  // or GK_GROUP

	// DefaultAttemptTimeout bounds one attempt of a call; the context bounds all of them.
	DefaultAttemptTimeout = 5 * time.Second
)

// Option is an option of Dial.
type Option interface{ dial(*settings) error }

// AcquireOption is an option of one acquisition, or of all acquisitions of a Semaphore.
type AcquireOption interface{ acquire(*acquisition) }

// SharedOption is an option of one acquisition; given to Dial it is the default of all.
type SharedOption func(*acquisition)

func (o SharedOption) dial(s *settings) error { o(&s.defaults); return nil }
func (o SharedOption) acquire(a *acquisition) { o(a) }

type dialOption func(*settings) error

func (o dialOption) dial(s *settings) error { return o(s) }

// settings are the options of Dial.
type settings struct {
	endpoints      []string
	defaults       acquisition
	files          *TLS // nil: none was given
	plaintext      bool
	tls            *tlsfiles.Latest // nil: plain text
	bearer         bearer           // nil: no bearer token
	bearerGiven    bool             // by an option, so that no variable counts
	attemptTimeout time.Duration
	clock          Clock
	logger         *slog.Logger
	grpc           []grpc.DialOption
	alone          bool
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
			return nil, fmt.Errorf("this machine does not say its name, give GK_ACQUIRER or WithAcquirer: %w", err)
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

// withPort completes an endpoint that names no port. What names a scheme of gRPC's is left as it is.
func withPort(endpoint string) string {
	if ofScheme(endpoint) {
		return endpoint
	}
	if _, _, err := net.SplitHostPort(endpoint); err == nil {
		return endpoint
	}
	return net.JoinHostPort(strings.Trim(endpoint, "[]"), DefaultPort)
}

func ofScheme(endpoint string) bool {
	return strings.Contains(endpoint, "://") || strings.HasPrefix(endpoint, "unix:")
}

// checkEndpoint refuses what would fail at each call, and not say why.
func checkEndpoint(endpoint string) error {
	if strings.HasPrefix(endpoint, "http://") || strings.HasPrefix(endpoint, "https://") {
		return fmt.Errorf("endpoint %q: give host:port alone; WithTLS says whether it is asked by TLS", endpoint)
	}
	if ofScheme(endpoint) {
		return nil
	}
	if _, port, err := net.SplitHostPort(endpoint); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("endpoint %q: its port must be a number from 1 to 65535", endpoint)
		}
	}
	return nil
}

// WithGroup says where the caller runs. Default: GK_GROUP, or "default".
func WithGroup(group string) SharedOption { return func(a *acquisition) { a.group = group } }

// WithAcquirer says who asks. Default: GK_ACQUIRER, or the host name.
func WithAcquirer(acquirer string) SharedOption {
	return func(a *acquisition) { a.acquirer = acquirer }
}

// WithStopTime says how long before the local deadline a permit's context ends when no refresh gets through: as long as
// the job needs to stop, or to be killed. Default: a fifth of the permit's duration, at most 10 s. Acquiring fails with
// a *StopTimeError when the permit's duration leaves too little beside it.
func WithStopTime(d time.Duration) SharedOption { return func(a *acquisition) { a.stopTime = d } }

// WithAttemptTimeout bounds one attempt of a call. Default: DefaultAttemptTimeout.
func WithAttemptTimeout(d time.Duration) Option {
	return dialOption(func(s *settings) error {
		if d <= 0 {
			return errors.New("an attempt needs a timeout above 0")
		}
		s.attemptTimeout = d
		return nil
	})
}

// WithSubmitBuffer bounds how many submissions of jobs wait while no server answers. Beyond that a submission fails
// with a *SubmitBufferError. Default: DefaultSubmitBuffer. Each waits until a server answers or its context ends, and
// keeps its tasks in memory.
func WithSubmitBuffer(submissions int) Option {
	return dialOption(func(s *settings) error {
		if submissions < 1 {
			return errors.New("WithSubmitBuffer must be above 0")
		}
		s.submitBuffer = submissions
		return nil
	})
}

// WithClock replaces the clock that permits are counted by. It is for tests.
func WithClock(c Clock) Option {
	return dialOption(func(s *settings) error { s.clock = c; return nil })
}

// WithLogger takes what nobody would otherwise hear of: jobs that stall or go on without a permit, releases that did
// not get through. Default: slog.Default().
func WithLogger(l *slog.Logger) Option {
	return dialOption(func(s *settings) error {
		if l == nil {
			return errors.New("WithLogger needs a logger; slog.DiscardHandler keeps it silent")
		}
		s.logger = l
		return nil
	})
}

// WithGRPC adds options to every connection.
func WithGRPC(opts ...grpc.DialOption) Option {
	return dialOption(func(s *settings) error { s.grpc = append(s.grpc, opts...); return nil })
}

// WithCallsAlone makes each TryAcquire a separate gRPC call. Without it, goroutines that are denied the same semaphores
// at the same time ask in batches. That costs them and the servers a fraction and changes nothing else, but an
// interceptor of unary calls given by WithGRPC sees BatchTryAcquire, without its requests, instead of each TryAcquire.
func WithCallsAlone() Option {
	return dialOption(func(s *settings) error { s.alone = true; return nil })
}

// TLS names the PEM files by which connections are protected. They are read again at each handshake, so that
// certificates and authorities are renewed while a Client runs. A file that cannot be used then is passed over, and the
// last one counts.
type TLS struct {
	// CAFile has the authorities by which servers are verified; empty means those of the system.
	CAFile string
	// CertFile and KeyFile are the client's own certificate and key; both or neither.
	CertFile, KeyFile string
	// ServerName is what the servers' certificates must name; empty means the host of each endpoint.
	ServerName string
}

// WithTLS protects every connection by TLS 1.3. Default: GK_TLS_CA, GK_TLS_CERT, GK_TLS_KEY and GK_TLS_SERVER_NAME if
// one of them is set, else plain text. WithTLS replaces all of them. A certificate that does not fit is a
// *CertificateError of the calls; a file that cannot be read is an error of Dial.
func WithTLS(t TLS) Option {
	return dialOption(func(s *settings) error { s.files, s.plaintext = &t, false; return nil })
}

// WithPlaintext makes connections without TLS, whatever the variables of WithTLS and WithBearerToken say.
func WithPlaintext() Option {
	return dialOption(func(s *settings) error { s.files, s.plaintext = nil, true; return nil })
}

// secure reads the files of TLS, if there is any.
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
		return nil, errors.New("TLS certificate and key are given together, or neither")
	}
	if t.CertFile != "" {
		pair, err := tlsfiles.Pair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, err
		}
		// It is sent whatever authorities the server names: one that does not take it says so, and would else ask for
		// one.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return cfg, nil
}
