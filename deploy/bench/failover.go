package main

import (
	"context"
	"path/filepath"

	"github.com/gatekeeperd/gatekeeper/deploy/bench/failover"
)

// measureFailover starts a cluster with each profile and measures failovers by killing their leaders in turn.
func (b *bench) measureFailover(ctx context.Context) ([]failover.Result, error) {
	var contestants []failover.Contestant
	for _, c := range []struct{ name, profile string }{{failover.Default, "default"}, {failover.Fast, "fast"}} {
		g, err := failover.StartGatekeeper(ctx, filepath.Join(b.bin, "gatekeeperd"), filepath.Join(b.dir, "failover"), c.profile)
		if err != nil {
			return nil, err
		}
		defer g.Close()
		contestants = append(contestants, failover.Contestant{Name: c.name, Cluster: g})
	}
	return failover.Measure(ctx, contestants, b.runs)
}
