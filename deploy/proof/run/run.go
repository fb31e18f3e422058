// Package run performs a single fault run. It starts real servers and clients, injects one kind of fault, repairs
// everything, waits until the cluster has recovered, and checks the history.
package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/child"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/fault"
	"github.com/gatekeeperd/gatekeeper/deploy/proof/load"
	"github.com/gatekeeperd/gatekeeper/internal/check"
	"github.com/gatekeeperd/gatekeeper/internal/history"
	"github.com/gatekeeperd/gatekeeper/internal/servers"
)

// Options configure a run. All fields except LogStore, Disks, Secure and Faulty are required.
type Options struct {
	// Binary is the gatekeeperd to run.
	Binary string
	// Dir is the directory for the servers' data.
	Dir string
	// Kind is a kind of fault, or "mixed".
	Kind string
	Seed uint64
	// Network is Namespaces, Proxies or Auto.
	Network string
	// Length is how long to inject faults.
	Length time.Duration
	// LogStore is the servers' log store. If it is empty, they use their default.
	LogStore string
	// Disks gives each server a separate small disk, which requires root.
	Disks bool
	// Secure configures TLS and authenticated clients.
	Secure bool
	// Faulty reports whether the binary was built with disk fault injection.
	Faulty bool
}

// Report is the result of a run.
type Report struct {
	Kind string
	Seed uint64
	// Network is the network that was used: Namespaces or Proxies.
	Network    string
	Operations int
	// Unknown is the number of operations without a response.
	Unknown int
	// Grants is the number of granted permits. Reacquired is the number of grants that name a superseded token.
	Grants, Reacquired int
	// Outcomes counts failed jobs, jobs that were cut short, takeovers, handed-over firings, and awaited outcomes.
	Outcomes map[string]int
	// LastTerm is the highest term that any member reported after the faults.
	LastTerm uint64
	Faults   map[string]int
	// Work counts the outcomes of jobs and tasks, and other clients' use of their semaphores. Disruptions counts faults
	// injected into the processes that share tasks.
	Work, Disruptions map[string]int
	check.Result
	// Entries is the whole history.
	Entries []history.Entry
	// Logs holds the last lines of the servers' logs if there were violations.
	Logs string
}

// Recover is the guarantee that the cluster recovers after the faults.
const Recover check.Guarantee = "the cluster recovers after the faults"

const (
	// recoverTimeout is the time within which the cluster must recover.
	recoverTimeout = 30 * time.Second
	// jobsTimeout is the time within which the remaining tasks must end. Some of them run for seconds, one after
	// another, and other callers queue between them.
	jobsTimeout = 3 * time.Minute
	// modelTimeout bounds the model's search for each semaphore. The slowest of 35 saved histories, including runs with
	// crowds and with mutants, takes 1.7 s for all its semaphores. The limit allows for a busy machine.
	modelTimeout = time.Minute
	// The number of clients in each role.
	holders, bareClients, libraryClients, visitors = 2, 40, 3, 3
	// The number of processes that share tasks.
	workers, submitters = 2, 2
)

// Once performs one run. An error means that the harness failed. The cluster's failures are in the report.
func Once(ctx context.Context, opts Options) (r *Report, err error) {
	var log history.Log
	n, name, err := newTestbed(opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	if opts.Secure && name == Proxies {
		return nil, fmt.Errorf("%w: proxies must see which member dials which, and TLS hides that", ErrUnsupported)
	}
	disks := disks{dir: opts.Dir}
	defer disks.remove()
	startCtx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var args []string
	if opts.Kind == fault.Overload || opts.Kind == fault.Mixed {
		args = []string{"--max-calls", strconv.Itoa(fault.MaxCalls)}
	}
	profile := profiles()[opts.Seed%2]
	secure, creds, err := newSecure(opts)
	if err != nil {
		return nil, err
	}
	cluster, err := servers.Start(startCtx, servers.Options{
		Binary: opts.Binary, Dir: opts.Dir, Count: 3, Profile: profile.name, LogStore: opts.LogStore, Args: args, Secure: secure,
		Front: func(s *servers.Server) error {
			if opts.Disks {
				if err := disks.add(s.ID); err != nil {
					return err
				}
			}
			if opts.Faulty {
				enableFaults(s)
			}
			return n.assignAddresses(s)
		},
	})
	if err != nil {
		return nil, err
	}
	defer cluster.Kill()
	a := &fault.Arena{
		Cluster: cluster, Network: n, Seed: opts.Seed, Lease: profile.lease, Reach: n.reach, Credentials: creds,
		Note: func(kind, on string) {
			log.Put(history.Entry{Fault: &history.Fault{At: boottime.Now(), Kind: kind, On: on}})
		},
	}
	world := load.World(opts.Seed)
	if opts.Kind == fault.Crowd {
		world = append(world, load.CrowdWorld(opts.Seed)...)
	}
	clients, err := load.New(startCtx, load.Options{
		Seed: opts.Seed, Endpoints: a.Endpoints(), World: world, Work: load.WorkWorld(opts.Seed), Put: log.Put, Bare: bareClients, Library: libraryClients,
		Visitors: visitors, Credentials: creds,
	})
	if err != nil {
		return nil, err
	}
	defer clients.Close()
	a.Clients = clients
	if p, ok := n.(*proxyNetwork); ok && opts.Kind == fault.Misdirected {
		a.Names = p
		if a.Foreign, err = startForeign(startCtx, opts, secure); err != nil {
			return nil, err
		}
		defer a.Foreign.Kill()
	}
	if opts.Disks {
		a.Full = disks.fill
	}
	if opts.Faulty {
		a.Disk = setDisk
	}
	processCtx, kill := context.WithCancel(ctx)
	defer kill() // after a failed run, the client processes are still running
	if err := startProcesses(processCtx, a, opts.Seed); err != nil {
		return nil, err
	}
	r, err = runFaults(ctx, a, opts, &log)
	if r != nil {
		r.Network = name
	}
	return r, err
}

// newSecure creates the certificates for a secure run. Library clients, including those in separate processes, find the
// files through the environment.
func newSecure(opts Options) (*servers.Secure, credentials.TransportCredentials, error) {
	if !opts.Secure {
		return nil, insecure.NewCredentials(), nil
	}
	secure, err := servers.NewSecure(opts.Dir)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range secure.Env() {
		if err := os.Setenv(name, value); err != nil {
			return nil, nil, err
		}
	}
	return secure, secure.Credentials(), nil
}

// profile is a timing profile and its leader lease.
type profile struct {
	name  string
	lease time.Duration
}

func profiles() []profile {
	return []profile{{"default", 800 * time.Millisecond}, {"fast", 400 * time.Millisecond}}
}

// startProcesses starts the clients that run as separate processes.
func startProcesses(ctx context.Context, a *fault.Arena, seed uint64) error {
	for _, group := range []struct {
		kind  string
		count int
		all   *[]*fault.Holder
	}{{holder, holders, &a.Holders}, {worker, workers, &a.Workers}, {submitter, submitters, &a.Submitters}} {
		for i := range group.count {
			host := fmt.Sprintf("%s-%d", group.kind, i)
			h := &fault.Holder{Kind: group.kind, Start: func(n int) (*child.Process[history.Entry], error) {
				name := fmt.Sprintf("%s-%d", host, n)
				return child.Start[history.Entry](ctx, name, holderArgs(group.kind, name, host, seed, a.Endpoints()))
			}}
			if err := h.StartNext(); err != nil {
				return err
			}
			*group.all = append(*group.all, h)
		}
	}
	return nil
}

// runFaults starts the clients, injects the faults, and then checks the cluster.
func runFaults(ctx context.Context, a *fault.Arena, opts Options, log *history.Log) (*Report, error) {
	r := &Report{Kind: opts.Kind, Seed: opts.Seed}
	clientCtx, stop := context.WithCancel(ctx)
	defer a.Clients.Wait()
	defer stop()
	if err := a.Clients.Start(clientCtx); err != nil {
		return nil, err
	}
	faultCtx, cancel := context.WithTimeout(ctx, opts.Length)
	defer cancel()
	watchDone := make(chan struct{})
	go func() {
		defer close(watchDone)
		watchStates(faultCtx, a, log.Put)
	}()
	var disruptErr error
	disruptDone := make(chan struct{})
	go func() {
		defer close(disruptDone)
		r.Disruptions, disruptErr = a.Disrupt(faultCtx)
	}()
	var err error
	r.Faults, err = fault.Run(faultCtx, a, opts.Kind, opts.Seed)
	cancel()
	<-watchDone
	<-disruptDone
	if err = errors.Join(err, disruptErr); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, logs(a.Cluster))
	}
	if err := a.Heal(); err != nil {
		return nil, err
	}
	recoverErr := awaitRecovery(ctx, a, log)
	if recoverErr == nil {
		recoverErr = ensureCoverage(ctx, a, r.Disruptions)
	}
	stop()
	a.Clients.Wait()
	if err := stopClients(slices.Concat(a.Holders, a.Submitters), log.Put); err != nil {
		return nil, err
	}
	var jobsErr error
	if recoverErr == nil {
		jobsErr = awaitJobs(ctx, a) // workers must be admitted and still running
	}
	if err := stopClients(a.Workers, log.Put); err != nil {
		return nil, err
	}
	if recoverErr == nil {
		a.Clients.AwaitAll(ctx)
		recoverErr = awaitSettled(ctx, a, log)
	}
	if recoverErr != nil {
		r.Violations = append(r.Violations, check.Violation{Guarantee: Recover, Detail: recoverErr.Error()})
	}
	if jobsErr != nil {
		r.Violations = append(r.Violations, check.Violation{Guarantee: check.JobNotLost, Detail: jobsErr.Error()})
	}
	r.LastTerm = highestTerm(ctx, a)
	r.Logs = logs(a.Cluster)
	a.Cluster.Kill() // free the CPU for the checkers
	r.Entries = log.Entries()
	return r, r.Check()
}

// stopClients stops client processes and adds their records to the history.
func stopClients(clients []*fault.Holder, put func(history.Entry)) error {
	for _, h := range clients {
		entries, err := h.Stop()
		if err != nil {
			return err
		}
		for _, e := range entries {
			put(e)
		}
	}
	return nil
}

// Check checks the history and counts its contents.
func (r *Report) Check() error {
	h, err := history.Gather(r.Entries)
	if err != nil {
		return err
	}
	r.Outcomes, r.Work = countOutcomes(h), check.WorkTally(h)
	maps.Copy(r.Work, countOrdinaryUse(h))
	for _, op := range h.Operations {
		r.Operations++
		if op.Outcome() == history.Unknown {
			r.Unknown++
		}
		if resp, ok := op.Response(); ok && resp.Result == history.Granted {
			r.Grants++
			if resp.Superseded != 0 {
				r.Reacquired++
			}
		}
	}
	result := check.All(h, modelTimeout)
	r.Violations = append(r.Violations, result.Violations...)
	r.Undecided = result.Undecided
	return nil
}

// countOutcomes counts the outcomes of firings.
func countOutcomes(h *history.History) map[string]int {
	n := map[string]int{"failed": 0, "cut-short": 0, "taken-over": 0, "handed-over": 0, "awaited": 0}
	claimed := map[[2]string]uint64{}
	for _, op := range h.Operations {
		resp, ok := op.Response()
		switch r := op.Request; {
		case !ok:
		case r.Kind == history.Release && resp.Result == history.Released && r.Failed:
			n["failed"]++
		case r.Kind == history.Release && resp.Result == history.Released && r.CutShort:
			n["cut-short"]++
		case r.Kind == history.TakeOver:
			n["taken-over"]++
		case r.Kind == history.Await:
			n["awaited"]++
		case r.Firing != "" && resp.Result == history.Granted:
			key := [2]string{r.Semaphore, r.Firing}
			if before, ok := claimed[key]; ok && before != resp.Token {
				n["handed-over"]++
			}
			claimed[key] = resp.Token
		}
	}
	return n
}

// countOrdinaryUse counts grants to ordinary callers, and operators' changes, on semaphores with tasks.
func countOrdinaryUse(h *history.History) map[string]int {
	withTasks := map[string]bool{"": true} // cordons apply to all semaphores
	for _, op := range h.Operations {
		if op.Request.Kind == history.Submit {
			withTasks[op.Request.Semaphore] = true
		}
	}
	labels := map[history.Kind]string{
		history.Acquire: "visits", history.Edit: "edits", history.Pause: "pauses", history.Cordon: "cordons", history.Revoke: "revokes",
		history.TakeOver: "takeovers",
	}
	n := map[string]int{"moves": 0}
	for _, label := range labels {
		n[label] = 0
	}
	for _, op := range h.Operations {
		resp, ok := op.Response()
		label := labels[op.Request.Kind]
		switch {
		case !ok || label == "" || !withTasks[op.Request.Semaphore], op.Request.Kind == history.Acquire && resp.Result != history.Granted:
		case op.Request.Move:
			n["moves"]++
		default:
			n[label]++
		}
	}
	return n
}

func logs(c *servers.Cluster) string {
	var text strings.Builder
	for _, s := range c.Servers {
		fmt.Fprintf(&text, "--- %s\n%s\n", s.ID, s.LogTail())
	}
	return text.String()
}

// Save writes the history and the last lines of the servers' logs to a directory. It returns the path of the history.
func (r *Report) Save(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%d", r.Kind, r.Seed))
	f, err := os.Create(base + ".jsonl")
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := history.Encode(f, r.Entries); err != nil {
		return "", err
	}
	return f.Name(), os.WriteFile(base+".log", []byte(r.Logs), 0o600)
}
