package workload

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/internal/loop"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func needsWide(Settings) []*gatekeeperv1.Definition {
	return []*gatekeeperv1.Definition{permits(nameWide, wide)}
}

func newRefresh() *Kind {
	return &Kind{
		Name:  "refresh",
		Short: "refresh a permit with a unary call",
		needs: needsWide,
		prepare: func(ctx context.Context, f *Fixture, callers int) (*Session, error) {
			h, err := hold(ctx, f, callers, 1)
			if err != nil {
				return nil, err
			}
			return &Session{Call: h.call, Callers: callers, close: h.close}, nil
		},
	}
}

// holders are callers that hold permits and refresh them.
type holders struct {
	fixture *Fixture
	tokens  [][]uint64 // tokens of each caller
}

// hold acquires the given number of permits for each caller.
func hold(ctx context.Context, f *Fixture, callers, permits int) (*holders, error) {
	h := &holders{f, make([][]uint64, callers)}
	for caller := range h.tokens {
		h.tokens[caller] = make([]uint64, permits)
	}
	err := forEach(callers*permits, func(i int) (err error) {
		caller, n := i/permits, i%permits
		h.tokens[caller][n], err = f.acquire(ctx, caller, strconv.Itoa(caller)+"/"+strconv.Itoa(n), f.name(nameWide))
		return err
	})
	if err != nil {
		_ = h.close(context.WithoutCancel(ctx)) // the first error is the cause, and the fixture clears the rest
		return nil, err
	}
	return h, nil
}

func (h *holders) close(ctx context.Context) error {
	return h.fixture.release(ctx, nonZero(slices.Concat(h.tokens...)))
}

// call refreshes the first permit of a caller.
func (h *holders) call(ctx context.Context, turn loop.Turn) (int, error) {
	ctx, cancel := h.fixture.withTimeout(ctx)
	defer cancel()
	one := &gatekeeperv1.TokenRefresh{Token: h.tokens[turn.Caller][0], Duration: durationpb.New(h.fixture.Duration)}
	r, err := h.fixture.permits(turn.Caller).Refresh(ctx, &gatekeeperv1.RefreshRequest{Tokens: []*gatekeeperv1.TokenRefresh{one}})
	if err != nil {
		return 0, err
	}
	if len(r.GetResults()) != 1 {
		return 0, fmt.Errorf("got %d results for one token", len(r.GetResults()))
	}
	if r := r.GetResults()[0]; r.GetStatus() != gatekeeperv1.RefreshStatus_REFRESH_STATUS_REFRESHED {
		return 0, notRefreshed(r)
	}
	return 1, nil
}

func notRefreshed(r *gatekeeperv1.TokenResult) error {
	return fmt.Errorf("permit %d was not refreshed: %s %s", r.GetToken(), r.GetStatus(), r.GetMessage())
}

func newStream() *Kind {
	return &Kind{
		Name:  "stream",
		Short: "refresh --tokens permits with one frame on an open stream; each permit counts as an operation, and latency is per frame",
		needs: needsWide,
		prepare: func(ctx context.Context, f *Fixture, callers int) (*Session, error) {
			h, err := hold(ctx, f, callers, f.Tokens)
			if err != nil {
				return nil, err
			}
			s := &streams{holders: h, open: make([]*stream, callers)}
			s.ctx, s.cancel = context.WithCancel(ctx)
			return &Session{Callers: callers, Call: s.call, close: func(ctx context.Context) error {
				s.cancel()
				return h.close(ctx)
			}}, nil
		},
	}
}

// streams are callers with one stream each. A caller's first call opens its stream, and a call after an error reopens
// it.
type streams struct {
	*holders
	ctx    context.Context //nolint:containedctx // the lifetime of the streams, which is longer than a call
	cancel context.CancelFunc
	open   []*stream // each element is accessed only by its caller
}

type stream struct {
	grpc.BidiStreamingClient[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse]
	cancel context.CancelFunc
	frame  uint64
}

func (s *streams) call(ctx context.Context, turn loop.Turn) (int, error) {
	if s.open[turn.Caller] == nil {
		streamCtx, cancel := context.WithCancel(s.ctx)
		opened, err := s.fixture.permits(turn.Caller).KeepAlive(streamCtx)
		if err != nil {
			cancel()
			return 0, streamError(err)
		}
		s.open[turn.Caller] = &stream{opened, cancel, 0}
	}
	cur := s.open[turn.Caller]
	inTime := func() bool { return true }
	if s.fixture.Timeout > 0 {
		// A frame has no deadline, so cancel the stream when the window ends or a response takes too long.
		defer context.AfterFunc(ctx, cur.cancel)()
		inTime = time.AfterFunc(s.fixture.Timeout, cur.cancel).Stop
	}
	n, err := cur.exchange(&gatekeeperv1.TokenGroup{Duration: durationpb.New(s.fixture.Duration), Tokens: s.tokens[turn.Caller]})
	if inTime := inTime(); err != nil {
		cur.cancel()
		s.open[turn.Caller] = nil
		if !inTime && ctx.Err() == nil {
			err = fmt.Errorf("no response to frame %d within %s", cur.frame, s.fixture.Timeout)
		}
	}
	return n, err
}

// exchange sends a frame in the form used by the client library, and waits for the response.
func (s *stream) exchange(group *gatekeeperv1.TokenGroup) (int, error) {
	s.frame++
	if err := s.Send(&gatekeeperv1.KeepAliveRequest{Frame: s.frame, Grouped: true, Groups: []*gatekeeperv1.TokenGroup{group}}); err != nil {
		_, err = s.Recv() // Recv returns the reason
		return 0, streamError(err)
	}
	for {
		r, err := s.Recv()
		if err != nil {
			return 0, streamError(err)
		}
		if bad := slices.Concat(r.GetNotices(), r.GetResults()); len(bad) > 0 {
			return 0, notRefreshed(bad[0])
		}
		if r.GetFrame() != s.frame {
			continue
		}
		n := 0
		for _, refreshed := range r.GetRefreshed() {
			n += len(refreshed.GetTokens())
		}
		if n != len(group.GetTokens()) {
			return 0, fmt.Errorf("%d of %d permits were refreshed", n, len(group.GetTokens()))
		}
		return n, nil
	}
}

// streamError returns the server's error for a stream, without the text that gRPC adds to it.
func streamError(err error) error {
	if s, ok := status.FromError(err); ok {
		return fmt.Errorf("the stream ended: %s", s.Message())
	}
	return fmt.Errorf("the stream ended: %w", err)
}
