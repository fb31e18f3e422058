package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/internal/load"
)

// plan says how long to measure what.
type plan struct {
	Callers []int         `json:"callers"`
	Rounds  int           `json:"rounds"`
	Window  time.Duration `json:"window_ns"`
	WarmUp  time.Duration `json:"warm_up_ns"`
}

// cell is what one way reached at one number of callers: a figure a round.
type cell struct {
	way
	Callers int           `json:"callers"`
	Figures []load.Figure `json:"rounds"`
}

// measure measures all ways of one kind of work, by turns: each has one window in every round. A failed operation ends it.
func (p *plan) measure(ctx context.Context, ways []way) ([]*cell, error) {
	var cells []*cell
	for _, callers := range p.Callers {
		at, err := p.at(ctx, ways, callers)
		if err != nil {
			return nil, err
		}
		cells = append(cells, at...)
	}
	return cells, nil
}

// at measures the ways at one number of callers.
func (p *plan) at(ctx context.Context, ways []way, callers int) ([]*cell, error) {
	var cells []*cell
	var calls []load.Call
	for _, w := range ways {
		if w.most > 0 && callers > w.most {
			continue
		}
		c := &cell{way: w, Callers: callers}
		call, shut, err := w.open(ctx, callers)
		if err != nil {
			return nil, c.failed(err)
		}
		if shut != nil {
			defer shut()
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
			turn := (i + round) % len(cells) // none is always the one that comes after the same other
			f, err := load.Measure(ctx, p.Window, callers, calls[turn])
			if err != nil {
				return nil, cells[turn].failed(err)
			}
			cells[turn].Figures = append(cells[turn].Figures, f)
		}
	}
	return cells, nil
}

func (c *cell) failed(err error) error {
	return fmt.Errorf("%s, %s, %d callers: %w", c.Work, c.name(), c.Callers, err)
}
