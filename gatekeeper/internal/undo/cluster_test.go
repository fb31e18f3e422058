package undo

import (
	"testing"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/statetest"
)

type cluster struct{ *statetest.Cluster }

func newCluster(t *testing.T) *cluster { return &cluster{statetest.New(t)} }
