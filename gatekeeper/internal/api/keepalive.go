package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// maxFrames is the maximum number of frames per stream that are processed at the same time. Further frames are held
// back by the connection's flow control, as are frames from a client that does not read the responses.
const maxFrames = 8

// maxExpiryDelay limits how long a received frame delays expiries while it waits for earlier frames. A frame waits
// longer only if its client does not read the responses. That client's permits may then expire before the frame is
// processed, but no other expiry is delayed any longer.
const maxExpiryDelay = time.Second

// KeepAlive receives refreshes and sends their results and notices.
//
// One goroutine receives: it reads the clock for each frame and extends deadlines. Only the handler's goroutine sends.
func (s *permitService) KeepAlive(stream grpc.BidiStreamingServer[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	listener := s.keeper.Listen()
	k := &keepAlive{
		ctx:   ctx,
		owner: s.owner,
		auditHidden: func(owner semaphore.Owner, results []keeper.TokenResult) {
			s.API.auditHidden(ctx, gatekeeperv1.PermitService_KeepAlive_FullMethodName, s.hidden(owner, results)...)
		},
		listener: listener,
		slots:    make(chan struct{}, maxFrames),
		ready:    make(chan readyFrame, maxFrames),
		ended:    make(chan error, 1),
		catchPanic: func(call func() error) error {
			_, err := s.catchPanic(ctx, gatekeeperv1.PermitService_KeepAlive_FullMethodName, func() (any, error) { return nil, call() })
			return err
		},
	}
	defer listener.Close()
	defer cancel()
	go func() { k.ended <- k.catchPanic(func() error { return k.receive(stream.Recv) }) }()
	err := k.run(stream.Send)
	if errors.Is(err, errNoNotices) {
		return &consensus.NotLeaderError{Leader: s.cfg.Consensus.Leader()}
	}
	return err
}

// errNoNotices ends a stream when this server stops leading.
var errNoNotices = errors.New("no more notices")

// keepAlive is the state of one stream.
type keepAlive struct {
	ctx         context.Context //nolint:containedctx // same lifetime as the stream
	owner       func(ctx context.Context, identity *semaphore.Identity) (semaphore.Owner, error)
	auditHidden func(owner semaphore.Owner, results []keeper.TokenResult) // audits tokens that belong to other principals
	listener    Listener
	catchPanic  func(call func() error) error // turns a panic into an error

	slots chan struct{}   // one element per frame, from before it is received until it is answered
	ready chan readyFrame // frames that can be answered; sending never blocks
	ended chan error      // the receiver's result; nil means that all frames have been answered
}

// readyFrame is a frame that is ready to be answered.
type readyFrame struct {
	number  uint64
	grouped bool // the client accepts groups
	frame   Frame
	owner   semaphore.Owner
}

// receive processes frames until the client closes the stream. It then waits until all of them have been answered. It
// may be blocked in recv when the handler returns, which unblocks it.
func (k *keepAlive) receive(recv func() (*gatekeeperv1.KeepAliveRequest, error)) error {
	for number := uint64(1); ; number++ {
		if err := k.reserve(1); err != nil {
			return err
		}
		message, err := recv()
		if errors.Is(err, io.EOF) {
			return k.reserve(maxFrames - 1)
		}
		if err != nil {
			return err
		}
		if err := k.handleFrame(number, message, k.listener.Receive()); err != nil {
			return err
		}
	}
}

// reserve waits for n free slots.
func (k *keepAlive) reserve(n int) error {
	for range n {
		select {
		case k.slots <- struct{}{}:
		case <-k.ctx.Done():
			return k.ctx.Err()
		}
	}
	return nil
}

// release frees n slots.
func (k *keepAlive) release(n int) {
	for range n {
		<-k.slots
	}
}

// handleFrame validates and refreshes a frame. A frame that forgets tokens waits for earlier frames, because they may
// refresh the same tokens.
func (k *keepAlive) handleFrame(number uint64, m *gatekeeperv1.KeepAliveRequest, frame Frame) error {
	defer frame.Drop() // does nothing after Refresh
	if m.GetFrame() != number {
		return invalid("frame", decimal(m.GetFrame()), "must be "+decimal(number)+": frames are numbered consecutively from 1")
	}
	if n := len(m.GetForget()); n > maxTokens {
		return invalid("forget", strconv.Itoa(n)+" tokens", "must be at most "+strconv.Itoa(maxTokens)+" tokens")
	}
	tokens, err := tokensFrom("tokens", m.GetTokens())
	if err == nil {
		tokens, err = groupsFrom(m.GetGroups(), tokens)
	}
	holder, holderErr := holderFrom(m.GetIdentity())
	if err := cmp.Or(err, holderErr); err != nil {
		return err
	}
	if len(m.GetForget()) > 0 {
		dropTimer := time.AfterFunc(maxExpiryDelay, frame.Drop)
		defer dropTimer.Stop()
		if err := k.reserve(maxFrames - 1); err != nil {
			return err
		}
		k.release(maxFrames - 1)
		k.listener.Forget(m.GetForget()...)
	}
	owner, err := k.owner(k.ctx, holder)
	if err != nil {
		return err
	}
	frame.Refresh(k.ctx, owner, tokens, func() { k.ready <- readyFrame{number, m.GetGrouped(), frame, owner} })
	return nil
}

// run sends responses and notices until the stream ends.
func (k *keepAlive) run(send func(*gatekeeperv1.KeepAliveResponse) error) error {
	for {
		var err error
		select {
		case r := <-k.ready:
			err = k.answer(r, send)
		case notices, open := <-k.listener.Notices():
			if !open {
				return errNoNotices
			}
			err = send(&gatekeeperv1.KeepAliveResponse{Notices: toResults(notices)})
		case err := <-k.ended:
			return err
		case <-k.ctx.Done():
			return k.ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// answer sends a frame's results and frees its slot.
func (k *keepAlive) answer(r readyFrame, send func(*gatekeeperv1.KeepAliveResponse) error) error {
	var results []keeper.TokenResult
	err := k.catchPanic(func() (err error) {
		results, err = r.frame.Results()
		return err
	})
	if err != nil {
		return err
	}
	k.auditHidden(r.owner, results)
	answer := &gatekeeperv1.KeepAliveResponse{Frame: r.number}
	if r.grouped {
		results, answer.Refreshed = splitRefreshed(results)
	}
	answer.Results = toResults(results)
	if err := send(answer); err != nil {
		return err
	}
	k.release(1)
	return nil
}
