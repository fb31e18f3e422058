package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/boottime"
	"github.com/gatekeeperd/gatekeeper/deploy/internal/child"
	"github.com/gatekeeperd/gatekeeper/deploy/samples"
)

// hostProcess is a host as the demo has it: a process, and the account that it writes.
type hostProcess struct {
	*child.Process[record]
	name string
}

// startHosts starts the hosts of every group.
func (d *demo) startHosts(ctx context.Context, jobs []samples.Job) error {
	groups := clusters(jobs)
	for _, group := range groups {
		for i := range d.hosts {
			p, err := startHost(ctx, &host{
				name: fmt.Sprintf("%s-%d", group, i+1), group: group, endpoints: d.cluster.Endpoints(),
				table: d.table, length: d.length,
			})
			if err != nil {
				return err
			}
			d.running = append(d.running, p)
		}
	}
	fmt.Fprintf(d.out, "%d hosts in %d groups, each a process; an hour of the timetable takes %v\n", len(d.running), len(groups), d.hour)
	return nil
}

func startHost(ctx context.Context, h *host) (*hostProcess, error) {
	p, err := child.Start[record](ctx, "host "+h.name, h.args())
	if err != nil {
		return nil, err
	}
	return &hostProcess{p, h.name}, nil
}

// holds is how many permits the host believes to hold now.
func (p *hostProcess) holds() int {
	var n int
	for _, r := range p.Records() {
		switch r.Event {
		case eventGranted:
			n++
		case eventEnded:
			n--
		}
	}
	return n
}

// life is the host's account, once it has ended.
func (p *hostProcess) life() life {
	return life{host: p.name, records: p.Records(), killed: p.Killed()}
}

// busiest is the living host that holds most.
func (d *demo) busiest() *hostProcess {
	best := d.running[0]
	for _, p := range d.running {
		if p.holds() > best.holds() {
			best = p
		}
	}
	return best
}

// endHosts waits for the hosts to finish what runs, and returns their accounts.
func (d *demo) endHosts(ctx context.Context) ([]life, error) {
	var lives []life
	var errs []error
	deadline := boottime.Now() + lastMinutes
	for _, p := range d.running {
		errs = append(errs, p.Wait(deadline-boottime.Now()))
		lives = append(lives, p.life())
	}
	return lives, errors.Join(append(errs, ctx.Err())...)
}

func (d *demo) killHosts() {
	for _, p := range d.running {
		p.Kill()
	}
}
