package tasks

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/gatekeeperd/gatekeeper/client"
)

const (
	// DefaultRetries is how often a Strategy may answer Retry for one run.
	DefaultRetries = 3
	// DefaultRetryDelay is the time before the permit is asked for again after Retry.
	DefaultRetryDelay = time.Second
	// DefaultProbeTimeout bounds one call of a Probe.
	DefaultProbeTimeout = 2 * time.Second
)

// Option is an option of NewManager. If an option is given twice, the last one counts, unless it says that it adds.
type Option func(*settings) error

type settings struct {
	semaphore  func(task string) string
	acquire    []client.AcquireOption
	job        []client.JobOption
	scheduler  []gocron.SchedulerOption
	now        func() time.Time
	strategy   Strategy
	probe      Probe
	timeout    time.Duration
	probeURL   string
	retries    int
	retryDelay time.Duration
	logger     *slog.Logger
}

func newSettings(opts []Option) (*settings, error) {
	s := &settings{
		semaphore: func(task string) string { return task },
		now:       time.Now,
		strategy:  StrategyFunc(ByAnswer),
		probe:     ServerProbe{},
		timeout:   DefaultProbeTimeout,
		retries:   DefaultRetries, retryDelay: DefaultRetryDelay,
		logger: slog.Default(),
	}
	for _, o := range opts {
		if err := o(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// WithSemaphore says which semaphore a task takes its permits from. Default: the one that has the task's name. Tasks
// that share a semaphore of one permit exclude each other.
func WithSemaphore(f func(task string) string) Option {
	return func(s *settings) error { s.semaphore = f; return nil }
}

// WithAcquireOptions adds options of all acquisitions.
func WithAcquireOptions(opts ...client.AcquireOption) Option {
	return func(s *settings) error { s.acquire = append(s.acquire, opts...); return nil }
}

// WithJobOptions adds options of all runs, for example client.WithHooks and client.WithOutagePolicy. The denial policy
// is the Manager's.
func WithJobOptions(opts ...client.JobOption) Option {
	return func(s *settings) error { s.job = append(s.job, opts...); return nil }
}

// WithScheduler adds options of the Manager's scheduler. Give every host the same gocron.WithLocation. Lockers and
// electors of others are not for it.
func WithScheduler(opts ...gocron.SchedulerOption) Option {
	return func(s *settings) error { s.scheduler = append(s.scheduler, opts...); return nil }
}

// WithNow replaces the clock, for a scheduler with gocron.WithClock.
func WithNow(now func() time.Time) Option {
	return func(s *settings) error { s.now = now; return nil }
}

// WithStrategy says how the holder of a denied task is judged. Default: ByAnswer.
func WithStrategy(strategy Strategy) Option {
	return func(s *settings) error { s.strategy = strategy; return nil }
}

// WithProbe says how to find out whether a holder is alive. Default: ServerProbe.
func WithProbe(p Probe) Option {
	return func(s *settings) error { s.probe = p; return nil }
}

// WithProbeTimeout bounds each call of the Probe, by its context. Default: DefaultProbeTimeout.
func WithProbeTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return fmt.Errorf("the probe timeout is %s, it must be above 0", d)
		}
		s.timeout = d
		return nil
	}
}

// WithProbeURL says where other hosts reach this Manager's Handler, for their HTTPProbe. Each permit shows it as
// metadata. The address must be that of this process alone, not of a load balancer. Serve it before the first task is
// registered.
func WithProbeURL(address string) Option {
	return func(s *settings) error {
		u, err := url.Parse(address)
		if err != nil {
			return fmt.Errorf("the probe URL: %w", err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("the probe URL %q must begin with http://HOST or https://HOST", address)
		}
		s.probeURL = address
		return nil
	}
}

// WithRetries says how often a Strategy may answer Retry for one run, and how long to wait before the permit is asked
// for again. After that the holder counts as alive. Default: DefaultRetries and DefaultRetryDelay.
func WithRetries(n int, delay time.Duration) Option {
	return func(s *settings) error {
		if n < 0 || delay < 0 {
			return fmt.Errorf("%d retries, each after %s: neither may be negative", n, delay)
		}
		s.retries, s.retryDelay = n, delay
		return nil
	}
}

// WithLogger replaces slog.Default.
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) error {
		if l == nil {
			return errors.New("WithLogger needs a logger; slog.DiscardHandler keeps it silent")
		}
		s.logger = l
		return nil
	}
}
