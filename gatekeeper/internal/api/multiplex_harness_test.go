package api

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// many is the client's end of a stream of many calls.
type many struct {
	t      *testing.T
	stream gatekeeperv1.PermitService_MultiplexClient
	cancel context.CancelFunc
	early  map[uint64]*gatekeeperv1.NumberedAnswer // that came before they were asked for
	taken  *uint64
}

// multiplexOn opens a stream and waits until it is served.
func multiplexOn(t *testing.T, g *gate, options ...grpc.CallOption) *many {
	t.Helper()
	c, cancel := context.WithCancel(ctx(t))
	t.Cleanup(cancel)
	stream, err := g.permits.Multiplex(c, options...)
	if err != nil {
		t.Fatal(err)
	}
	m := &many{t: t, stream: stream, cancel: cancel, early: make(map[uint64]*gatekeeperv1.NumberedAnswer)}
	m.send(new(gatekeeperv1.MultiplexRequest))
	if r, err := stream.Recv(); err != nil || len(r.GetAnswers()) != 0 || r.Taken != nil {
		t.Fatalf("an empty frame is answered by %v, %v", r, err)
	}
	return m
}

func (m *many) send(r *gatekeeperv1.MultiplexRequest) {
	m.t.Helper()
	if err := m.stream.Send(r); err != nil {
		m.t.Fatal(err)
	}
}

func (m *many) call(calls ...*gatekeeperv1.NumberedCall) {
	m.t.Helper()
	m.send(&gatekeeperv1.MultiplexRequest{Calls: calls})
}

// answer waits for the answer of that number.
func (m *many) answer(number uint64) *gatekeeperv1.NumberedAnswer {
	m.t.Helper()
	for m.early[number] == nil {
		r, err := m.stream.Recv()
		if err != nil {
			m.t.Fatalf("waiting for the answer to %d: %v", number, err)
		}
		for _, a := range r.GetAnswers() {
			if m.early[a.GetNumber()] != nil {
				m.t.Fatalf("%d is answered twice", a.GetNumber())
			}
			m.early[a.GetNumber()] = a
		}
		m.taken = r.Taken
	}
	return m.early[number]
}

// end reads to the end of the stream.
func (m *many) end() error {
	for {
		r, err := m.stream.Recv()
		if err != nil {
			return err
		}
		for _, a := range r.GetAnswers() {
			m.early[a.GetNumber()] = a
		}
		m.taken = r.Taken
	}
}

// errorOf is the error of an answer; nil when it is none.
func errorOf(a *gatekeeperv1.NumberedAnswer) error {
	if e := a.GetError(); e != nil {
		return statusFrom(e).Err()
	}
	return nil
}

func trying(number uint64, change ...func(*gatekeeperv1.TryAcquireRequest)) *gatekeeperv1.NumberedCall {
	m := &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Identity: who(), Weight: 1}
	for _, c := range change {
		c(m)
	}
	return &gatekeeperv1.NumberedCall{Number: number, Call: &gatekeeperv1.NumberedCall_TryAcquire{TryAcquire: m}}
}

func askingFor(sem string) func(*gatekeeperv1.TryAcquireRequest) {
	return func(m *gatekeeperv1.TryAcquireRequest) { m.Semaphore = sem }
}

func releasing(number, token uint64) *gatekeeperv1.NumberedCall {
	return &gatekeeperv1.NumberedCall{Number: number, Call: &gatekeeperv1.NumberedCall_Release{Release: &gatekeeperv1.ReleaseRequest{Token: token}}}
}

func refreshing(number, token uint64) *gatekeeperv1.NumberedCall {
	one := &gatekeeperv1.TokenRefresh{Token: token, Duration: durationpb.New(time.Second)}
	return &gatekeeperv1.NumberedCall{Number: number, Call: &gatekeeperv1.NumberedCall_Refresh{Refresh: &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{one}}}}
}

// everything makes the keeper of a gate answer each semaphore in another way.
func everything(g *gate) {
	holder := &semaphore.Permit{Semaphore: "held", Token: 3, Identity: semaphore.Identity{Group: "g", Acquirer: "holder"}, Metadata: map[string]string{"k": "v"}}
	answer := func(c *keeper.AcquireCall) (keeper.Answer, error) {
		switch c.Semaphore {
		case "granted":
			return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: c.Semaphore, Token: 9, Duration: time.Minute}}, nil
		case "changed":
			return keeper.Answer{}, &keeper.RevisionChangedError{Semaphore: c.Semaphore, Expected: 1, Current: 2}
		case "unknown":
			return keeper.Answer{}, fmt.Errorf("lost: %w", consensus.ErrUnknownOutcome)
		case "deposed":
			return keeper.Answer{}, &consensus.NotLeaderError{Leader: consensus.Leader{ID: "gk9", APIAddress: "there:1", Term: 8}}
		case "panic":
			panic("secret")
		}
		return keeper.Answer{Outcome: semaphore.Denied, Denial: &keeper.Denial{
			Decision: semaphore.Decision{Reason: semaphore.NoFreePermit}, Message: "taken", HolderCount: 1, RetryAfter: time.Second,
			Holders: []*semaphore.Permit{holder},
		}}, nil
	}
	g.keeper.tryAcquire = func(_ context.Context, c *keeper.AcquireCall) (keeper.Answer, error) { return answer(c) }
	g.keeper.denies = func(c *keeper.AcquireCall) (keeper.Answer, bool, error) {
		if c.Semaphore == "panic" {
			panic("secret")
		}
		if c.Semaphore == "held" {
			a, err := answer(c)
			return a, true, err
		}
		return keeper.Answer{}, false, nil
	}
	g.keeper.release = func(token uint64, _ semaphore.JobEnd) (fsm.ReleaseResult, error) {
		return fsm.ReleaseResult{Released: token == 5, Revision: 12}, nil
	}
	g.keeper.refresh = func(_ context.Context, _ time.Time, r []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		return []keeper.TokenResult{{Token: r[0].Token, Status: keeper.StatusRefreshed, Duration: time.Second}}, nil
	}
}

// alone makes a call as one of its own.
func alone(t *testing.T, g *gate, c *gatekeeperv1.NumberedCall) (proto.Message, error) {
	t.Helper()
	switch m := c.GetCall().(type) {
	case *gatekeeperv1.NumberedCall_TryAcquire:
		return g.permits.TryAcquire(ctx(t), m.TryAcquire)
	case *gatekeeperv1.NumberedCall_Release:
		return g.permits.Release(ctx(t), m.Release)
	case *gatekeeperv1.NumberedCall_Refresh:
		return g.permits.Refresh(ctx(t), m.Refresh)
	}
	t.Fatalf("no call of its own is like %v", c)
	return nil, nil
}

func replyOf(a *gatekeeperv1.NumberedAnswer) proto.Message {
	switch m := a.GetAnswer().(type) {
	case *gatekeeperv1.NumberedAnswer_TryAcquire:
		return m.TryAcquire
	case *gatekeeperv1.NumberedAnswer_Release:
		return m.Release
	case *gatekeeperv1.NumberedAnswer_Refresh:
		return m.Refresh
	}
	return nil
}
