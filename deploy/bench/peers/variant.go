package main

import (
	"context"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// work is a workload to measure on each system.
type work string

const (
	// pairs acquires and releases a key. Each caller has its own key.
	pairs work = "acquire+release pairs"
	// denials tries to acquire a key that another caller holds.
	denials work = "denials"
	// refreshes keeps one permit or lease alive per message.
	refreshes work = "refreshes, one per message"
	// tokens keeps many permits alive per message. Of the systems measured, only Gatekeeper supports that. It is
	// compared with echo calls.
	tokens work = "refreshes in frames of 100"
	// tasks submits one empty task and waits until its result is recorded.
	tasks work = "tasks, one per job"
	// jobs submits 1000 empty tasks and waits until all results are recorded.
	jobs work = "tasks in jobs of 1000"
)

// variant is one way to perform a kind of work on one system.
type variant struct {
	Work work `json:"work"`
	// System and Servers identify the measured system. How identifies the calls. If Servers is 0, the figure is a limit
	// of the machine, which is compared with clusters of any size.
	System  string `json:"system"`
	Servers int    `json:"servers"`
	How     string `json:"how"`
	// Store is Gatekeeper's log store. It is empty for peers.
	Store string `json:"log_store,omitempty"`
	// TLS reports whether Gatekeeper's servers and callers use TLS.
	TLS bool `json:"tls,omitempty"`

	// maxCallers is the maximum number of callers; 0 means no limit
	maxCallers int
	// processes are the servers that do the work
	processes []int
	// open prepares for the given number of callers. closeFunc may be nil
	open func(ctx context.Context, callers int) (call load.Call, closeFunc func(), err error)
}

// name returns a name that is unique among the variants of the same kind of work.
func (w *variant) name() string {
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

// system is a set of running servers and the variants to measure on them.
type system struct {
	version   string
	variants  []variant
	processes []int
	stop      func()
}

// ready returns an open function for a call that needs no preparation.
func ready(call load.Call) func(context.Context, int) (load.Call, func(), error) {
	return func(context.Context, int) (load.Call, func(), error) { return call, nil, nil }
}
