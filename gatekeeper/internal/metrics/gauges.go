package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
)

// Sources are what is read when somebody asks. Every field may be nil.
type Sources struct {
	State func() *fsm.State
	// Leading says whether this server leads. It is asked for every applied entry, which is counted only then.
	Leading func() bool
	// Waiters are acquires in the queues, Deadlines permits whose time the leader measures, Watchers open
	// subscriptions, and Waiting commands that wait for an entry of the log.
	Waiters, Deadlines, Watchers, Waiting func() int
	// Recovering is how long nothing is granted yet after a recovery; false when permits are granted.
	Recovering func() (time.Duration, bool)
	// Missing is how many semaphores with expect_every miss their work in that way.
	Missing func(fsm.Missed) int
	// HostClocks is how many callers have clocks that differ from this server's.
	HostClocks func() int
	// ClocksOff is how many members have clocks that differ from those of the others.
	ClocksOff func() int
	// Certificates are when those of the ports with TLS end; zero: its files cannot be used.
	Certificates func() map[string]time.Time
	// Insecure: the server was started with --insecure.
	Insecure bool
	// AuditLost is how many lines the audit log could not write, and Blocked how many calls were refused because too
	// many wrong tokens came from their address.
	AuditLost, Blocked func() uint64
	// Admission counts the calls that this server has taken on, and those that it has refused.
	Admission *admission.Control
}

// Attach says where to read what is not counted. Until then all of it is zero.
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
			Help:        "Semaphores with expect_every that are not heard of as expected, on the leader.",
			ConstLabels: prometheus.Labels{"kind": kind},
		}, func() float64 {
			if s := m.sources.Load(); s != nil && s.Missing != nil {
				return float64(s.Missing(which))
			}
			return 0
		})
	}
	return group{
		missed("nobody_asked", fsm.NobodyAsked), missed("denied", fsm.AskedButDenied),
		missed("no_progress", fsm.NoProgress), missed("held_too_long", fsm.HeldLong),
		state("definitions", "Definitions stored.", func(s *fsm.State) float64 { return float64(s.DefinitionCount()) }),
		state("permits", "Permits that take slots: live, held and cooling.", func(s *fsm.State) float64 { return float64(s.PermitCount()) }),
		state("revision", "The latest revision applied.", func(s *fsm.State) float64 { return float64(s.Revision()) }),
		state("remembered_requests", "Ended acquires that are remembered, so that their repeats are recognized.", func(s *fsm.State) float64 {
			requests, _, _, _ := s.RequestMemory()
			return float64(requests)
		}),
		state("remembered_requests_bytes", "The estimated size of the ended acquires that are remembered.", func(s *fsm.State) float64 {
			_, _, bytes, _ := s.RequestMemory()
			return float64(bytes)
		}),
		state("remembered_edits", "Edits that are remembered, so that their repeats are recognized.", func(s *fsm.State) float64 {
			_, edits, _, _ := s.RequestMemory()
			return float64(edits)
		}),
		state("remembered_edits_bytes", "The estimated size of the edits that are remembered.", func(s *fsm.State) float64 {
			_, _, _, bytes := s.RequestMemory()
			return float64(bytes)
		}),
		state("jobs", "Jobs stored, also those that are over.", func(s *fsm.State) float64 { return float64(s.JobCount()) }),
		state("tasks_waiting", "Tasks that wait for a worker.", func(s *fsm.State) float64 { return float64(s.AllWork().Waiting) }),
		state("tasks_held", "Tasks that workers have.", func(s *fsm.State) float64 { return float64(s.AllWork().Held) }),
		state("work_bytes", "Bytes stored and reserved for jobs.", func(s *fsm.State) float64 { return float64(s.WorkBytes()) }),
		number("waiters", "Acquire calls waiting in the leader's queues, excluding idle workers.", func(s *Sources) func() int { return s.Waiters }),
		number("host_clocks_off", "Callers whose clocks differ from the leader's by more than 5 minutes, on the leader.", func(s *Sources) func() int { return s.HostClocks }),
		number("member_clocks_off", "Members whose clocks differ from those of the others, on the leader.", func(s *Sources) func() int { return s.ClocksOff }),
		number("deadlines", "Permits whose time the leader measures.", func(s *Sources) func() int { return s.Deadlines }),
		number("watchers", "Open subscriptions to applied changes.", func(s *Sources) func() int { return s.Watchers }),
		gauge("recovery_wait_seconds", "How long nothing is granted yet after a recovery; 0 when permits are granted.", func(s *Sources) float64 {
			if s.Recovering == nil {
				return 0
			}
			left, recovering := s.Recovering()
			if !recovering {
				return 0
			}
			return max(left.Seconds(), 0.001) // nothing is granted before the log says so
		}),
		counter("audit_lines_lost_total", "Lines that the audit log could not write.", func(s *Sources) func() uint64 { return s.AuditLost }),
		counter("authentications_blocked_total", "Calls refused because too many wrong bearer tokens came from their address.", func(s *Sources) func() uint64 { return s.Blocked }),
		gauge("insecure", "1 if the server was started with --insecure, else 0.", func(s *Sources) float64 {
			if s.Insecure {
				return 1
			}
			return 0
		}),
		m.newAdmitted(),
		m.newExpiries(),
		number("log_commands_waiting", "Commands that wait for an entry of the log.", func(s *Sources) func() int { return s.Waiting }),
	}
}

// newAdmitted are calls that were taken on, and those that were refused because there were too many.
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
		Help: "Calls and streams taken on and not ended: in work, waiting, or not received yet. Those that keep or end permits are not counted.",
	}, read(func(c *admission.Control) float64 { return float64(c.IsOpen()) }))}
	for _, k := range admission.Kinds() {
		g = append(g, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "rpc_working", Help: "Calls in work, by what they are for.",
			ConstLabels: prometheus.Labels{"kind": k.String()},
		}, read(func(c *admission.Control) float64 { return float64(c.InWork(k)) })))
		for _, s := range admission.Scopes() {
			g = append(g, prometheus.NewCounterFunc(prometheus.CounterOpts{
				Namespace: namespace, Name: "rpc_refused_total",
				Help:        "Calls refused because too many were open or in work: of the whole server, of one connection, or of one group and acquirer.",
				ConstLabels: prometheus.Labels{"kind": k.String(), "of": s.String()},
			}, read(func(c *admission.Control) float64 { return float64(c.Refused(k, s)) })))
		}
	}
	return g
}
