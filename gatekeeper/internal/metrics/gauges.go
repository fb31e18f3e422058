package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
)

// Sources holds the functions that are called at each scrape. Any of them may be nil.
type Sources struct {
	State func() *fsm.State
	// Leading reports whether this server leads. It is called for every applied entry, which is counted only if it
	// returns true.
	Leading func() bool
	// Waiters returns the number of acquires in the queues, Deadlines the number of permits whose deadlines the leader
	// tracks, Watchers the number of open subscriptions, and Waiting the number of commands waiting for a log entry.
	Waiters, Deadlines, Watchers, Waiting func() int
	// Recovering returns how much longer a recovery prevents all grants, or false if none does.
	Recovering func() (time.Duration, bool)
	// Missing returns the number of semaphores for which the given kind of missed work is reported.
	Missing func(fsm.Missed) int
	// HostClocks returns how many callers have clocks that differ from this server's.
	HostClocks func() int
	// SkewedClocks returns how many members have clocks that differ from the other members' clocks.
	SkewedClocks func() int
	// Certificates returns when the certificates of the ports with TLS expire. A zero time means unusable files.
	Certificates func() map[string]time.Time
	// Insecure means that the server was started with --insecure.
	Insecure bool
	// AuditLost returns how many audit log lines could not be written, and Blocked how many calls were refused because
	// too many wrong tokens came from their address.
	AuditLost, Blocked func() uint64
	// Admission counts the calls that this server has admitted and refused.
	Admission *admission.Control
}

// Attach sets the sources of the metrics that are read at each scrape. Until then, those metrics are 0.
func (m *Metrics) Attach(s Sources) { m.sources.Store(&s) }

func (m *Metrics) newGauges() prometheus.Collector {
	gauge := func(name, help string, read func(*Sources) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, func() float64 {
			if s := m.sources.Load(); s != nil {
				return read(s)
			}
			return 0
		})
	}
	number := func(name, help string, source func(*Sources) func() int) prometheus.Collector {
		return gauge(name, help, func(s *Sources) float64 {
			if f := source(s); f != nil {
				return float64(f())
			}
			return 0
		})
	}
	counter := func(name, help string, source func(*Sources) func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, func() float64 {
			if s := m.sources.Load(); s != nil {
				if f := source(s); f != nil {
					return float64(f())
				}
			}
			return 0
		})
	}
	state := func(name, help string, read func(*fsm.State) float64) prometheus.Collector {
		return gauge(name, help, func(s *Sources) float64 {
			if s.State != nil {
				return read(s.State())
			}
			return 0
		})
	}
	missed := func(kind string, which fsm.Missed) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "missed_semaphores",
			Help:        "Semaphores with expect_every whose expected work is missing, as detected by the leader.",
			ConstLabels: prometheus.Labels{"kind": kind},
		}, func() float64 {
			if s := m.sources.Load(); s != nil && s.Missing != nil {
				return float64(s.Missing(which))
			}
			return 0
		})
	}
	return group{
		missed("no_requests", fsm.NoRequests), missed("denied", fsm.AllDenied),
		missed("no_progress", fsm.NoProgress), missed("held_too_long", fsm.HeldTooLong),
		state("definitions", "Definitions stored.", func(s *fsm.State) float64 { return float64(s.DefinitionCount()) }),
		state("permits", "Permits that occupy slots: live, held and cooling.", func(s *fsm.State) float64 { return float64(s.PermitCount()) }),
		state("revision", "The newest applied revision.", func(s *fsm.State) float64 { return float64(s.Revision()) }),
		state("remembered_requests", "Ended acquires remembered in order to detect repeated requests.", func(s *fsm.State) float64 {
			requests, _, _, _ := s.RequestMemory()
			return float64(requests)
		}),
		state("remembered_requests_bytes", "Estimated size of the remembered acquires.", func(s *fsm.State) float64 {
			_, _, bytes, _ := s.RequestMemory()
			return float64(bytes)
		}),
		state("remembered_edits", "Edits remembered in order to detect repeated requests.", func(s *fsm.State) float64 {
			_, edits, _, _ := s.RequestMemory()
			return float64(edits)
		}),
		state("remembered_edits_bytes", "Estimated size of the remembered edits.", func(s *fsm.State) float64 {
			_, _, _, bytes := s.RequestMemory()
			return float64(bytes)
		}),
		state("jobs", "Jobs stored, including finished ones.", func(s *fsm.State) float64 { return float64(s.JobCount()) }),
		state("tasks_waiting", "Tasks waiting for a worker.", func(s *fsm.State) float64 { return float64(s.AllWork().Waiting) }),
		state("tasks_held", "Tasks held by workers.", func(s *fsm.State) float64 { return float64(s.AllWork().Held) }),
		state("work_bytes", "Bytes stored and reserved for jobs.", func(s *fsm.State) float64 { return float64(s.WorkBytes()) }),
		number("waiters", "Acquire calls waiting in the leader's queues, excluding idle workers.", func(s *Sources) func() int { return s.Waiters }),
		number("host_clocks_off", "Callers whose clocks differ from the leader's by more than 5 minutes, as measured by the leader.", func(s *Sources) func() int { return s.HostClocks }),
		number("member_clocks_off", "Members whose clocks differ from the other members' clocks, as measured by the leader.", func(s *Sources) func() int { return s.SkewedClocks }),
		number("deadlines", "Permits whose deadlines the leader tracks.", func(s *Sources) func() int { return s.Deadlines }),
		number("watchers", "Open subscriptions to applied changes.", func(s *Sources) func() int { return s.Watchers }),
		gauge("recovery_wait_seconds", "Time until permits are granted again after a recovery; 0 if they are already being granted.", func(s *Sources) float64 {
			if s.Recovering == nil {
				return 0
			}
			left, recovering := s.Recovering()
			if !recovering {
				return 0
			}
			// No permits are granted until the end of the quarantine has been applied, even if no time is left.
			return max(left.Seconds(), 0.001)
		}),
		counter("audit_lines_lost_total", "Audit log lines that could not be written.", func(s *Sources) func() uint64 { return s.AuditLost }),
		counter("authentications_blocked_total", "Calls refused because too many wrong bearer tokens came from their address.", func(s *Sources) func() uint64 { return s.Blocked }),
		gauge("insecure", "1 if the server was started with --insecure, else 0.", func(s *Sources) float64 {
			if s.Insecure {
				return 1
			}
			return 0
		}),
		m.newAdmitted(),
		m.newExpiries(),
		number("log_commands_waiting", "Commands waiting for a log entry.", func(s *Sources) func() int { return s.Waiting }),
	}
}

// newAdmitted returns the metrics of admitted and refused calls.
func (m *Metrics) newAdmitted() prometheus.Collector {
	read := func(count func(*admission.Control) float64) func() float64 {
		return func() float64 {
			if s := m.sources.Load(); s != nil && s.Admission != nil {
				return count(s.Admission)
			}
			return 0
		}
	}
	g := group{prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "rpc_open",
		Help: "Open calls and streams: in progress, waiting, or not received yet. Calls that refresh or end permits are not counted.",
	}, read(func(c *admission.Control) float64 { return float64(c.OpenCalls()) }))}
	for _, k := range admission.Kinds() {
		g = append(g, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "rpc_working", Help: "Calls in progress, by kind.",
			ConstLabels: prometheus.Labels{"kind": k.String()},
		}, read(func(c *admission.Control) float64 { return float64(c.CallsInProgress(k)) })))
		for _, s := range admission.Scopes() {
			g = append(g, prometheus.NewCounterFunc(prometheus.CounterOpts{
				Namespace: namespace, Name: "rpc_refused_total",
				Help:        "Calls refused because too many were open or in progress: on the server, on one connection, or from one group and acquirer.",
				ConstLabels: prometheus.Labels{"kind": k.String(), "of": s.String()},
			}, read(func(c *admission.Control) float64 { return float64(c.Refused(k, s)) })))
		}
	}
	return g
}
