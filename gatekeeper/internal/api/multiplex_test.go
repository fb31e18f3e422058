package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMultiplex_EachCall_IsAnsweredAsOneOfItsOwn(t *testing.T) {
	leader, follower := pair(t)
	everything(leader)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		frame := []*gatekeeperv1.NumberedCall{
			trying(1, askingFor("held")), trying(2, askingFor("granted")), trying(3, askingFor("changed")), trying(4, askingFor("unknown")), trying(7, askingFor("deposed")),
			trying(8, askingFor("panic")), trying(10, askingFor("held")), trying(11, askingFor("a*")), trying(12, func(m *gatekeeperv1.TryAcquireRequest) { m.Identity = nil }),
			releasing(20, 5), releasing(21, 6), releasing(22, 0), refreshing(30, 3), refreshing(31, 0),
			trying(40, askingFor("held"), func(m *gatekeeperv1.TryAcquireRequest) { m.RequestId = long(129) }),
		}
		m := multiplexOn(t, g)
		m.call(frame...)
		for _, c := range frame {
			reply, err := alone(t, g, c)
			a := m.answer(c.GetNumber())
			if diff := cmp.Diff(said(err), said(errorOf(a)), protocmp.Transform()); diff != "" {
				t.Errorf("%s, call %d: alone (-) and among others (+):\n%s", where, c.GetNumber(), diff)
			}
			if err != nil {
				reply = nil
			}
			if diff := cmp.Diff(reply, replyOf(a), protocmp.Transform()); err == nil && diff != "" {
				t.Errorf("%s, call %d: alone (-) and among others (+):\n%s", where, c.GetNumber(), diff)
			}
		}
		if err := m.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if err := m.end(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the stream ended by %v", where, err)
		}
	}
}

// What a server does not know yet leaves the calls beside it alone.
func TestMultiplex_UnknownCall_IsUnimplemented(t *testing.T) {
	g := open(t)
	everything(g)
	m := multiplexOn(t, g)
	m.call(&gatekeeperv1.NumberedCall{Number: 1}, trying(2, askingFor("held")))
	if s := statusOf(errorOf(m.answer(1))); s.Code() != codes.Unimplemented {
		t.Errorf("got %v", s)
	}
	if m.answer(2).GetTryAcquire().GetDenial() == nil {
		t.Error("the call beside it was not answered")
	}
}

func TestMultiplex_BadFrame_EndsTheStream_AndNothingOfItIsDone(t *testing.T) {
	tooMany := make([]*gatekeeperv1.NumberedCall, maxCalls+1)
	for i := range tooMany {
		tooMany[i] = trying(uint64(i) + 2)
	}
	for name, bad := range map[string]struct {
		frame *gatekeeperv1.MultiplexRequest
		field string
	}{
		"a number twice":          {&gatekeeperv1.MultiplexRequest{Calls: []*gatekeeperv1.NumberedCall{trying(2), trying(3), trying(3)}}, "calls[2].number"},
		"a number of before":      {&gatekeeperv1.MultiplexRequest{Calls: []*gatekeeperv1.NumberedCall{trying(1)}}, "calls[0].number"},
		"numbers that fall":       {&gatekeeperv1.MultiplexRequest{Calls: []*gatekeeperv1.NumberedCall{trying(5), trying(4)}}, "calls[1].number"},
		"no number":               {&gatekeeperv1.MultiplexRequest{Calls: []*gatekeeperv1.NumberedCall{trying(0)}}, "calls[0].number"},
		"too many calls":          {&gatekeeperv1.MultiplexRequest{Calls: tooMany}, "calls"},
		"too many to cancel":      {&gatekeeperv1.MultiplexRequest{Cancel: make([]uint64, maxHeldCalls+1)}, "cancel"},
		"a name that is no UTF-8": {&gatekeeperv1.MultiplexRequest{Calls: []*gatekeeperv1.NumberedCall{trying(2)}}, "calls[0].try_acquire.semaphore"},
	} {
		t.Run(name, func(t *testing.T) {
			g := open(t)
			asked := make(chan string, 10)
			g.keeper.tryAcquire = func(_ context.Context, c *keeper.AcquireCall) (keeper.Answer, error) {
				asked <- c.Semaphore
				return keeper.Answer{Outcome: semaphore.Denied, Denial: new(keeper.Denial)}, nil
			}
			m := multiplexOn(t, g, grpc.ForceCodecV2(rawCodec{encoding.GetCodecV2(encodingproto.Name)}))
			m.call(trying(1, askingFor("before")))
			m.answer(1)
			if sem := receiveFrom(t, asked); sem != "before" {
				t.Fatal(sem)
			}
			if bad.field == "calls[0].try_acquire.semaphore" {
				if err := m.stream.SendMsg(rawBytes{0x0a, 7, 0x08, 2, 0x1a, 3, 0x0a, 1, 0xff}); err != nil {
					t.Fatal(err)
				}
			} else {
				m.send(bad.frame)
			}
			if got := want(t, m.end(), codes.InvalidArgument, "INVALID_FIELD")["field"]; got != bad.field {
				t.Errorf("the field is %q, want %q", got, bad.field)
			}
			g.server.Stop() // everything that was begun has ended
			if len(asked) > 0 {
				t.Errorf("%q was asked for", <-asked)
			}
		})
	}
}

func TestMultiplex_Cancel_EndsThatCallAlone(t *testing.T) {
	leader, follower := pair(t)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		begun, release := stuck(leader)
		defer release()
		m := multiplexOn(t, g)
		m.call(trying(1), trying(2), trying(3))
		for range 3 {
			receiveFrom(t, begun)
		}
		m.send(&gatekeeperv1.MultiplexRequest{Cancel: []uint64{2, 77}})
		want(t, errorOf(m.answer(2)), codes.Canceled, "")
		m.call(trying(4), trying(5))
		m.send(&gatekeeperv1.MultiplexRequest{Cancel: []uint64{4}}) // perhaps before it has begun
		want(t, errorOf(m.answer(4)), codes.Canceled, "")
		release()
		for _, n := range []uint64{1, 3, 5} {
			if err := errorOf(m.answer(n)); err != nil {
				t.Errorf("%s: call %d ended with another: %v", where, n, err)
			}
		}
	}
}

func TestMultiplex_Timeout_IsThatOfTheCall(t *testing.T) {
	g := open(t)
	begun, release := stuck(g)
	defer release()
	m := multiplexOn(t, g)
	brief := trying(1)
	brief.Timeout = durationpb.New(time.Millisecond)
	over := trying(2, askingFor("held"))
	over.Timeout = durationpb.New(-time.Second)
	wrong := trying(3)
	wrong.Timeout = &durationpb.Duration{Seconds: 1, Nanos: -1}
	m.call(brief, over, wrong, trying(4))
	want(t, errorOf(m.answer(1)), codes.DeadlineExceeded, "")
	want(t, errorOf(m.answer(2)), codes.DeadlineExceeded, "")
	want(t, errorOf(m.answer(3)), codes.InvalidArgument, "INVALID_FIELD")
	receiveFrom(t, begun)
	release()
	if err := errorOf(m.answer(4)); err != nil {
		t.Error(err)
	}
}

// A keeper gives back a grant whose call's context ended before it was answered: it must hear of a client that is gone.
func TestMultiplex_ClientGone_EndsTheContextOfEachCall(t *testing.T) {
	leader, follower := pair(t)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		begun, ended := make(chan struct{}, 10), make(chan error, 10)
		leader.keeper.tryAcquire = func(ctx context.Context, _ *keeper.AcquireCall) (keeper.Answer, error) {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return keeper.Answer{}, ctx.Err()
		}
		m := multiplexOn(t, g)
		m.call(trying(1), trying(2))
		receiveFrom(t, begun)
		receiveFrom(t, begun)
		m.cancel()
		for range 2 {
			if err := receiveFrom(t, ended); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", where, err)
			}
		}
		eventually(t, "nothing is open", func() bool { return leader.api.cfg.Admission.IsOpen() == 0 && g.api.cfg.Admission.IsOpen() == 0 })
	}
}

func TestMultiplex_HalfClosed_AnswersWhatIsInWork(t *testing.T) {
	leader, follower := pair(t)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		begun, release := stuck(leader)
		m := multiplexOn(t, g)
		m.call(trying(1), trying(2))
		receiveFrom(t, begun)
		receiveFrom(t, begun)
		if err := m.stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		release()
		if err := m.end(); !errors.Is(err, io.EOF) || len(m.early) != 2 || m.taken != nil {
			t.Errorf("%s: ended by %v with %d answers", where, err, len(m.early))
		}
	}
}

func TestMultiplex_LeadershipEnds_AnswersWhatItHasTakenOn_AndSaysHowFarItCame(t *testing.T) {
	leader, follower := pair(t)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		begun, release := stuck(leader)
		m := multiplexOn(t, g)
		listener := receiveFrom(t, leader.keeper.listening)
		m.call(trying(1), trying(7))
		receiveFrom(t, begun)
		receiveFrom(t, begun)
		leader.consensus.follow(consensus.Leader{ID: "gk9", APIAddress: "there:1", Term: 2})
		close(listener.notices)
		release()
		err := m.end()
		if where == "the leader" {
			if info := want(t, err, codes.Unavailable, "NOT_LEADER"); info["leader_api"] != "there:1" {
				t.Errorf("it names %v", info)
			}
		} else {
			want(t, err, codes.Unavailable, "NOT_LEADER")
		}
		if len(m.early) != 2 || m.taken == nil || *m.taken != 7 {
			t.Errorf("%s: %d answers, taken on up to %v", where, len(m.early), m.taken)
		}
		leader.consensus.follow(consensus.Leader{ID: "gk1", APIAddress: leader.address, Term: 1})
	}
}

func TestMultiplex_Drain_AnswersWhatItHasTakenOn(t *testing.T) {
	leader, follower := pair(t)
	for _, g := range []*gate{follower, leader} {
		begun, release := stuck(leader)
		m := multiplexOn(t, g)
		m.call(trying(3))
		receiveFrom(t, begun)
		g.api.Drain()
		eventually(t, "it takes nothing on any more", func() bool {
			err := m.stream.Send(&gatekeeperv1.MultiplexRequest{})
			return err == nil
		})
		release()
		want(t, m.end(), codes.Unavailable, "SHUTTING_DOWN")
		if a := m.early[3]; a.GetTryAcquire() == nil || m.taken == nil || *m.taken != 3 {
			t.Errorf("answered %v, taken on up to %v", a, m.taken)
		}
		stopped := make(chan struct{})
		go func() { g.server.GracefulStop(); close(stopped) }()
		receiveFrom(t, stopped)
	}
}

// A call whose way to the leader broke is answered as a call of its own would be.
func TestMultiplex_HopBreaks_EachCallHearsOfIt(t *testing.T) {
	for name, breaks := range map[string]func(leader, follower *gate){
		"the leader is gone": func(leader, _ *gate) { leader.server.Stop() },
		"another leader leads": func(_, follower *gate) {
			follower.consensus.follow(consensus.Leader{ID: "gk3", APIAddress: "there:1", Term: 2})
		},
	} {
		t.Run(name, func(t *testing.T) {
			leader, follower := pair(t)
			begun, release := stuck(leader)
			defer release()
			m := multiplexOn(t, follower)
			m.call(trying(1), trying(2))
			receiveFrom(t, begun)
			receiveFrom(t, begun)
			breaks(leader, follower)
			err := m.end()
			want(t, err, codes.Unavailable, "OUTCOME_UNKNOWN")
			for n := range uint64(2) {
				want(t, errorOf(m.early[n+1]), codes.Unavailable, "OUTCOME_UNKNOWN")
			}
			if m.taken == nil || *m.taken != 2 {
				t.Errorf("taken on up to %v", m.taken)
			}
		})
	}
}

func TestMultiplex_NoLeader_RefusesTheStream(t *testing.T) {
	g := open(t)
	g.consensus.follow(consensus.Leader{})
	stream, err := g.permits.Multiplex(ctx(t))
	if err == nil {
		_, err = stream.Recv()
	}
	want(t, err, codes.Unavailable, "NO_LEADER")
}

func TestMultiplex_Calls_AreAdmittedAsOfTheirOwn(t *testing.T) {
	leader, follower := pair(t, working(16))
	begun, release := stuck(leader)
	defer release()
	leader.keeper.release = func(uint64, semaphore.JobEnd) (fsm.ReleaseResult, error) { return fsm.ReleaseResult{}, nil }
	m := multiplexOn(t, leader)
	frame := make([]*gatekeeperv1.NumberedCall, 8)
	for i := range frame {
		frame[i] = trying(uint64(i)+1, func(m *gatekeeperv1.TryAcquireRequest) { m.Identity = &gatekeeperv1.Identity{Acquirer: fmt.Sprint(i)} })
	}
	m.call(append(frame, releasing(20, 1))...)
	for range 4 { // a quarter of 16
		receiveFrom(t, begun)
	}
	for n := uint64(5); n <= 8; n++ {
		wantOverloaded(t, errorOf(m.answer(n)), "connection")
	}
	if m.answer(20).GetRelease() == nil {
		t.Error("a release was refused")
	}
	// What comes by another member is counted there.
	hopped := multiplexOn(t, follower)
	for i := range frame {
		frame[i].GetTryAcquire().Identity.Acquirer += "'"
	}
	hopped.call(frame...)
	for n := uint64(5); n <= 8; n++ {
		wantOverloaded(t, errorOf(hopped.answer(n)), "connection")
	}
	release()
	for n := uint64(1); n <= 4; n++ {
		if err := errors.Join(errorOf(m.answer(n)), errorOf(hopped.answer(n))); err != nil {
			t.Error(err)
		}
	}
	for _, g := range []*gate{leader, follower} {
		eventually(t, "nothing is in work", func() bool { return g.api.cfg.Admission.InWork(admission.Ordinary) == 0 })
	}
}

func TestMultiplex_Calls_AreCountedAsOfTheirOwn(t *testing.T) {
	metrics := new(countingMetrics)
	leader, follower := pair(t, func(c *Config) { c.Metrics = metrics })
	everything(leader)
	m := multiplexOn(t, follower)
	m.call(trying(1, askingFor("held")), releasing(2, 0))
	m.answer(1)
	m.answer(2)
	for _, s := range []string{
		"forwarded /gatekeeper.v1.PermitService/TryAcquire",
		"forwarded /gatekeeper.v1.PermitService/Release",
		"ended /gatekeeper.v1.PermitService/TryAcquire OK",
		"ended /gatekeeper.v1.PermitService/Release InvalidArgument INVALID_FIELD",
		"opened /gatekeeper.v1.PermitService/Multiplex",
	} {
		if !metrics.has(s) {
			t.Errorf("not counted: %s", s)
		}
	}
}
