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
	// DefaultRetries is how many times a Strategy can return Retry for one run.
	DefaultRetries = 3
	// DefaultRetryDelay is the delay between a Retry and the next attempt to acquire the permit.
	DefaultRetryDelay = time.Second
	// DefaultProbeTimeout bounds one call to a Probe.
	DefaultProbeTimeout = 2 * time.Second
)

// Option configures a Manager. If an option is passed more than once, the last one wins, except for options that add to
// earlier ones.
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

// WithSemaphore sets the function that returns the name of a task's semaphore. By default it returns the task's name.
// Tasks that share a semaphore with one permit are mutually exclusive.
func WithSemaphore(f func(task string) string) Option {
	return func(s *settings) error { s.semaphore = f; return nil }
}

// WithAcquireOptions adds options for all acquisitions.
func WithAcquireOptions(opts ...client.AcquireOption) Option {
	return func(s *settings) error { s.acquire = append(s.acquire, opts...); return nil }
}

// WithJobOptions adds options for all runs, for example client.WithHooks and client.WithOutagePolicy. The Manager sets
// the denial policy.
func WithJobOptions(opts ...client.JobOption) Option {
	return func(s *settings) error { s.job = append(s.job, opts...); return nil }
}

// WithScheduler adds options for the Manager's scheduler. Use the same gocron.WithLocation on every host. Do not add
// another locker or an elector.
func WithScheduler(opts ...gocron.SchedulerOption) Option {
	return func(s *settings) error { s.scheduler = append(s.scheduler, opts...); return nil }
}

// WithNow replaces the clock. Use it together with gocron.WithClock.
func WithNow(now func() time.Time) Option {
	return func(s *settings) error { s.now = now; return nil }
}

// WithStrategy sets the Strategy that judges the holder when a task is denied. Default: ByAnswer.
func WithStrategy(strategy Strategy) Option {
	return func(s *settings) error { s.strategy = strategy; return nil }
}

// WithProbe sets the Probe that checks whether a holder is alive. Default: ServerProbe.
func WithProbe(p Probe) Option {
	return func(s *settings) error { s.probe = p; return nil }
}

// WithProbeTimeout bounds each call to the Probe through its context. Default: DefaultProbeTimeout.
func WithProbeTimeout(d time.Duration) Option {
	return func(s *settings) error {
		if d <= 0 {
			return fmt.Errorf("probe timeout %s must be greater than 0", d)
		}
		s.timeout = d
		return nil
	}
}

// WithProbeURL sets the URL at which other hosts reach this Manager's Handler with their HTTPProbe. It is stored in
// each permit's metadata. The URL must reach this process directly, not through a load balancer. Serve the Handler
// before you register the first task.
func WithProbeURL(address string) Option {
	return func(s *settings) error {
		u, err := url.Parse(address)
		if err != nil {
			return fmt.Errorf("invalid probe URL: %w", err)
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return fmt.Errorf("the probe URL %q must begin with http://HOST or https://HOST", address)
		}
		s.probeURL = address
		return nil
	}
}

// WithRetries sets how many times a Strategy can return Retry for one run, and the delay before the next attempt to
// acquire the permit. When the retries are used up, the holder is considered alive. Default: DefaultRetries and
// DefaultRetryDelay.
func WithRetries(n int, delay time.Duration) Option {
	return func(s *settings) error {
		if n < 0 || delay < 0 {
			return fmt.Errorf("%d retries, each after %s: neither value may be negative", n, delay)
		}
		s.retries, s.retryDelay = n, delay
		return nil
	}
}

// WithLogger sets the logger. Default: slog.Default().
func WithLogger(l *slog.Logger) Option {
	return func(s *settings) error {
		if l == nil {
			return errors.New("WithLogger requires a logger; use slog.DiscardHandler to silence it")
		}
		s.logger = l
		return nil
	}
}
