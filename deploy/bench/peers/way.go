package main

import (
	"context"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// work is a kind of work that every system is given.
type work string

const (
	// pairs: an acquire and the release of it, each caller on its own key.
	pairs work = "acquire+release pairs"
	// denials: an acquire of a key that somebody else holds.
	denials work = "denials"
	// refreshes: one holding is kept alive by one message.
	refreshes work = "refreshes, one a message"
	// tokens: many holdings are kept alive by one message. Only Gatekeeper can.
	tokens work = "refreshes in frames of 100"
	// tasks: a submission of one empty task, until its result is recorded.
	tasks work = "tasks of a job each"
	// jobs: a submission of 1000 empty tasks, until all results are recorded.
	jobs work = "tasks of jobs of 1000"
)

// way is how one system does one kind of work.
type way struct {
	Work work `json:"work"`
	// System and Servers say what was asked, and How by which calls. 0 servers are a limit of the machine, to which any
	// number compares.
	System  string `json:"system"`
	Servers int    `json:"servers"`
	How     string `json:"how"`
	// Store is Gatekeeper's log store; peers have none.
	Store string `json:"log_store,omitempty"`
	// TLS: Gatekeeper's servers, and the callers with them, talk by it.
	TLS bool `json:"tls,omitempty"`

	// most is the highest number of callers; 0 is any.
	most int
	// processes are the servers that are asked.
	processes []int
	// open prepares for that many callers. shut may be nil.
	open func(ctx context.Context, callers int) (call load.Call, shut func(), err error)
}

// name tells a way from all others of the same work.
func (w *way) name() string {
	name := w.System
	switch {
	case w.Servers == 1:
		name += ", 1 server"
	case w.Servers > 1:
		name += fmt.Sprintf(", %d servers", w.Servers)
	}
	if w.Store != "" {
		name += ", " + w.Store
	}
	if w.TLS {
		name += ", TLS"
	}
	if w.How != "" {
		name += ": " + w.How
	}
	return name
}

// system is servers that run, and the ways of asking them.
type system struct {
	version   string
	ways      []way
	processes []int
	stop      func()
}

// ready is a way's open when nothing is to be prepared.
func ready(call load.Call) func(context.Context, int) (load.Call, func(), error) {
	return func(context.Context, int) (load.Call, func(), error) { return call, nil, nil }
}
