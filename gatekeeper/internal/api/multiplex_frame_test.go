package api

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// prompt answers each call at once.
type prompt struct{ *multiplex }

func (p prompt) carry(calls []*heldCall) {
	p.work.Go(func() {
		for _, c := range calls {
			p.reply(&gatekeeperv1.NumberedAnswer{Number: c.GetNumber()})
		}
	})
}
func (p prompt) cancel([]uint64) {}
func (p prompt) greet()          { p.hello() }

// A client that asks and never reads holds no more than its share: the rest waits on its side.
func TestMultiplex_AnswersAreNotRead_BoundsWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads, answered := make(chan struct{}), 0
		m := newMultiplex(t.Context(), nil, func(r *gatekeeperv1.MultiplexResponse) error {
			<-reads
			answered += len(r.GetAnswers())
			return nil
		})
		m.carrier = prompt{m}
		const frames = 10
		taken := 0
		go func() {
			for n := range uint64(frames) {
				frame := new(gatekeeperv1.MultiplexRequest)
				for i := range uint64(maxCalls) {
					frame.Calls = append(frame.Calls, trying(n*maxCalls+i+1))
				}
				if err := m.take(frame, time.Now()); err != nil {
					t.Error(err)
				}
				taken++
			}
		}()
		synctest.Wait()
		if m.held != maxHeldCalls || taken != maxHeldCalls/maxCalls {
			t.Errorf("%d calls are held, and %d frames were taken on", m.held, taken)
		}
		close(reads) // it goes on when it is read
		synctest.Wait()
		if m.held != 0 || len(m.calls) != 0 || answered != frames*maxCalls {
			t.Errorf("%d calls are held, and %d were answered", m.held, answered)
		}
	})
}

// A client that leaves frees a receiver that waits for room.
func TestMultiplex_AnswersAreNotRead_AndItIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m := newMultiplex(ctx, nil, func(*gatekeeperv1.MultiplexResponse) error {
			<-ctx.Done()
			return ctx.Err()
		})
		defer context.AfterFunc(m.ctx, m.wake)()
		defer m.give()
		m.carrier = prompt{m}
		for n := range uint64(3) {
			frame := new(gatekeeperv1.MultiplexRequest)
			for i := range uint64(maxCalls) {
				frame.Calls = append(frame.Calls, trying(n*maxCalls+i+1))
			}
			if n == 2 {
				go func() { synctest.Wait(); cancel() }()
			}
			if err := m.take(frame, time.Now()); err != nil {
				t.Error(err)
			}
		}
		m.work.Wait()
	})
}

func TestFitting_FramesStayBelowWhatClientsAccept(t *testing.T) {
	p := &gatekeeperv1.Permit{Semaphore: long(256), Identity: &gatekeeperv1.Identity{Group: long(256), Acquirer: long(256), HolderId: long(256)}, Metadata: map[string]string{}}
	for i := range 16 {
		p.Metadata[long(60)+fmt.Sprint(i)] = long(256)
	}
	denial := &gatekeeperv1.Denial{Message: long(2000)}
	for range keeper.MaxHolders {
		denial.Holders = append(denial.Holders, p)
	}
	detail, err := anypb.New(&errdetails.ErrorInfo{Reason: long(1000)})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*gatekeeperv1.NumberedAnswer{
		{Answer: &gatekeeperv1.NumberedAnswer_TryAcquire{TryAcquire: &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: denial}}}},
		{Answer: &gatekeeperv1.NumberedAnswer_TryAcquire{TryAcquire: &gatekeeperv1.TryAcquireResponse{Outcome: &gatekeeperv1.TryAcquireResponse_Grant{Grant: &gatekeeperv1.Grant{Permit: p}}}}},
		{Answer: &gatekeeperv1.NumberedAnswer_Error{Error: &gatekeeperv1.CallError{Code: 3, Message: long(1000), Details: []*anypb.Any{detail, detail}}}},
		{Answer: &gatekeeperv1.NumberedAnswer_Release{Release: &gatekeeperv1.ReleaseResponse{Message: "it had ended before"}}},
	} {
		a.Number = 1 << 60
		if got, least := weight(a), proto.Size(a); got < least {
			t.Errorf("weighed as %d bytes, it has %d: %.100v", got, least, a)
		}
		answers := slices.Repeat([]*gatekeeperv1.NumberedAnswer{a}, 3*maxCalls)
		n := fitting(answers)
		if size := proto.Size(&gatekeeperv1.MultiplexResponse{Answers: answers[:n]}); n == 0 || n > maxCalls || size > maxAnswerBytes {
			t.Errorf("%d answers of %d bytes in one frame", n, size)
		}
	}
}

// FuzzMultiplexFrame: whatever comes, each call of a frame that is taken on is answered once, and nothing is done of one that is not.
func FuzzMultiplexFrame(f *testing.F) {
	for _, seed := range []*gatekeeperv1.MultiplexRequest{
		{}, {Calls: []*gatekeeperv1.NumberedCall{trying(1), releasing(2, 3), refreshing(9, 1), {Number: 10}}}, {Calls: []*gatekeeperv1.NumberedCall{trying(2), trying(2)}},
		{Calls: []*gatekeeperv1.NumberedCall{{Number: 4, Timeout: &durationpb.Duration{Nanos: -5}, Call: trying(1).Call}}, Cancel: []uint64{4, 5}},
	} {
		b, err := proto.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	k := &fakeKeeper{machine: fsm.New("fuzz")}
	a, err := New(Config{ID: "gk1", Keeper: k, Consensus: &fakeConsensus{leader: consensus.Leader{ID: "gk1", Term: 1}}, Machine: k.machine})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(a.Close)
	everything(&gate{keeper: k})
	f.Fuzz(func(t *testing.T, data []byte) {
		frame := new(gatekeeperv1.MultiplexRequest)
		if (codec{encoding.GetCodecV2(encodingproto.Name)}).Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, &inbound{message: frame}) != nil {
			return
		}
		answered := make(map[uint64]int)
		m := newMultiplex(t.Context(), a, func(r *gatekeeperv1.MultiplexResponse) error {
			for _, a := range r.GetAnswers() {
				answered[a.GetNumber()]++
			}
			return nil
		})
		defer m.give()
		m.carrier = &here{m, &permitService{API: a, keeper: a.cfg.Keeper}}
		err := m.take(frame, time.Now())
		m.work.Wait()
		if err != nil {
			want(t, toStatus(err), codes.InvalidArgument, "INVALID_FIELD")
			if len(answered) > 0 {
				t.Errorf("refused, and answered %v", answered)
			}
			return
		}
		for _, c := range frame.GetCalls() {
			if answered[c.GetNumber()] != 1 {
				t.Errorf("call %d was answered %d times", c.GetNumber(), answered[c.GetNumber()])
			}
		}
		if len(answered) != len(frame.GetCalls()) || m.held != 0 || len(m.calls) != 0 {
			t.Errorf("%d answers to %d calls, %d are still held", len(answered), len(frame.GetCalls()), m.held)
		}
	})
}
