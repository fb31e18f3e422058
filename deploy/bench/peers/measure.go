package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// plan configures the measurements.
type plan struct {
	Callers []int         `json:"callers"`
	Rounds  int           `json:"rounds"`
	Window  time.Duration `json:"window_ns"`
	WarmUp  time.Duration `json:"warm_up_ns"`
}

// cell holds the results of one variant for one number of callers, with one figure per round.
type cell struct {
	variant
	Callers int           `json:"callers"`
	Figures []load.Figure `json:"rounds"`
	// CPU is the CPU time per operation in each round. It is empty if that time is unknown.
	CPU []cpuCost `json:"cpu,omitempty"`
}

// cpuCost is the CPU time per operation, in µs. It excludes the CPU time of other processes, but not the slowdown that
// they cause.
type cpuCost struct {
	Servers float64 `json:"servers_us"`
	Callers float64 `json:"callers_us"`
}

func (e cpuCost) sum() float64 { return e.Servers + e.Callers }

// measure alternately measures all variants of one kind of work, with one window each in every round. It stops at the
// first failed operation.
func (p *plan) measure(ctx context.Context, variants []variant) ([]*cell, error) {
	var cells []*cell
	for _, callers := range p.Callers {
		at, err := p.measureAt(ctx, variants, callers)
		if err != nil {
			return nil, err
		}
		cells = append(cells, at...)
	}
	return cells, nil
}

// measureAt measures the variants with one number of callers.
func (p *plan) measureAt(ctx context.Context, variants []variant, callers int) ([]*cell, error) {
	var cells []*cell
	var calls []load.Call
	for _, w := range variants {
		if w.maxCallers > 0 && callers > w.maxCallers {
			continue
		}
		c := &cell{variant: w, Callers: callers}
		call, closeFunc, err := w.open(ctx, callers)
		if err != nil {
			return nil, c.failed(err)
		}
		if closeFunc != nil {
			defer closeFunc()
		}
		cells, calls = append(cells, c), append(calls, call)
		if p.WarmUp > 0 {
			if _, err := load.Measure(ctx, p.WarmUp, callers, call); err != nil {
				return nil, c.failed(err)
			}
		}
	}
	for round := range p.Rounds {
		for i := range cells {
			turn := (i + round) % len(cells) // vary the order, so that no variant always follows the same one
			if err := cells[turn].measure(ctx, p.Window, calls[turn]); err != nil {
				return nil, cells[turn].failed(err)
			}
		}
	}
	return cells, nil
}

// measure measures one window and adds the result.
func (c *cell) measure(ctx context.Context, length time.Duration, call load.Call) error {
	before, err := c.cpuUsed()
	if err != nil {
		return err
	}
	f, err := load.Measure(ctx, length, c.Callers, call)
	if err != nil {
		return err
	}
	after, err := c.cpuUsed()
	if err != nil {
		return err
	}
	c.Figures = append(c.Figures, f)
	if after != before {
		n := float64(f.Operations)
		c.CPU = append(c.CPU, cpuCost{(after.Servers - before.Servers) / n, (after.Callers - before.Callers) / n})
	}
	return nil
}

// cpuUsed returns the total CPU time that the variant's servers and callers have used.
func (c *cell) cpuUsed() (cpuCost, error) {
	servers, err := cpuTime(c.processes)
	if err != nil {
		return cpuCost{}, err
	}
	callers, err := ownTime()
	return cpuCost{load.Micros(servers), load.Micros(callers)}, err
}

func (c *cell) failed(err error) error {
	return fmt.Errorf("%s, %s, %d callers: %w", c.Work, c.name(), c.Callers, err)
}
