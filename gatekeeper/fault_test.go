package gatekeeper

import (
	"errors"
	"testing"

	"google.golang.org/grpc/health/grpc_health_v1"
)

func TestServer_Fault_ClosesDoneAndDrainsClients(t *testing.T) {
	t.Parallel()
	cfg, _ := testConfig(t, "")
	s, c := openReady(t, cfg)
	fault := errors.New("the disk failed")
	s.fail(fault)
	<-s.Done()
	if !errors.Is(s.Err(), fault) {
		t.Errorf("Err() = %v, want %v", s.Err(), fault)
	}
	if err := s.Ready(bounded(t)); err == nil {
		t.Error("Ready() after a fault = nil, want an error")
	}
	h, err := grpc_health_v1.NewHealthClient(c.conn).Check(bounded(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || h.GetStatus() != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health = %v, %v, want NOT_SERVING", h, err)
	}
	closeServer(t, s)
	if !errors.Is(s.Err(), fault) {
		t.Errorf("Err() after Close = %v, want %v", s.Err(), fault)
	}
}
