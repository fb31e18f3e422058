package api

import (
	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/metrics"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/watch"
)

// Check that the implementations satisfy this package's interfaces.
var (
	_ Keeper    = keeperAdapter{}
	_ Listener  = listenerAdapter{}
	_ Frame     = (*keeper.Frame)(nil)
	_ Consensus = (*consensus.Node)(nil)
	_ Machine   = (*fsm.Machine)(nil)
	_ Hub       = (*watch.Hub)(nil)
	_ Metrics   = (*metrics.Metrics)(nil)
)
