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

// maxFrames is how many frames of one stream are being refreshed at once. What a client sends beyond that, or without
// reading what it is answered, waits in its connection's flow control.
const maxFrames = 8

// holdUp is how long a frame that has come in and waits for those before it holds up expiries at most. It waits longer
// only if the client does not read what it is answered: then its own permits may end before its turn, and nobody else's
// last longer.
const holdUp = time.Second

// KeepAlive carries refreshes up, and results and notices down.
//
// One goroutine receives: it reads the time of each frame and moves its deadlines. The handler's own is the only one
// that sends.
func (s *permitService) KeepAlive(stream grpc.BidiStreamingServer[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	listener := s.keeper.Listen()
	k := &keepAlive{
		ctx:   ctx,
		owner: s.owner,
		hid: func(owner semaphore.Owner, results []keeper.TokenResult) {
			s.API.hid(ctx, gatekeeperv1.PermitService_KeepAlive_FullMethodName, s.hidden(owner, results)...)
		},
		listener: listener,
		places:   make(chan struct{}, maxFrames),
		ready:    make(chan refreshed, maxFrames),
		ended:    make(chan error, 1),
		caught: func(call func() error) error {
			_, err := s.caught(ctx, gatekeeperv1.PermitService_KeepAlive_FullMethodName, func() (any, error) { return nil, call() })
			return err
		},
	}
	defer listener.Close()
	defer cancel()
	go func() { k.ended <- k.caught(func() error { return k.receive(stream.Recv) }) }()
	err := k.run(stream.Send)
	if errors.Is(err, errNoNotices) {
		return &consensus.NotLeaderError{Leader: s.cfg.Consensus.Leader()}
	}
	return err
}

// errNoNotices ends a stream whose leadership is over.
var errNoNotices = errors.New("no more notices")

// keepAlive is one stream.
type keepAlive struct {
	ctx      context.Context //nolint:containedctx // one stream lives as long as this
	owner    func(ctx context.Context, identity *semaphore.Identity) (semaphore.Owner, error)
	hid      func(owner semaphore.Owner, results []keeper.TokenResult) // audits the tokens of others
	listener Listener
	caught   func(call func() error) error // turns a panic into an error

	places chan struct{}  // holds one for each frame from before it is received until it is answered
	ready  chan refreshed // frames that can be answered; there is room for all
	ended  chan error     // holds why nothing more will be received; nil: all is answered that ever will be
}

// refreshed is a frame that can be answered.
type refreshed struct {
	number  uint64
	grouped bool // the client reads groups
	frame   Frame
	owner   semaphore.Owner
}

// receive takes frames until there are no more, and then waits until all are answered. It may be blocked in recv when
// the handler returns, which ends it.
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
		if err := k.take(number, message, k.listener.Receive()); err != nil {
			return err
		}
	}
}

// reserve waits for so many places.
func (k *keepAlive) reserve(n int) error {
	for range n {
		select {
		case k.places <- struct{}{}:
		case <-k.ctx.Done():
			return k.ctx.Err()
		}
	}
	return nil
}

// release makes room for as many frames.
func (k *keepAlive) release(n int) {
	for range n {
		<-k.places
	}
}

// take validates a frame and refreshes it. One that forgets waits for those before it: they may follow the same tokens.
func (k *keepAlive) take(number uint64, m *gatekeeperv1.KeepAliveRequest, frame Frame) error {
	defer frame.Drop() // whatever happens; after Refresh it does nothing
	if m.GetFrame() != number {
		return invalid("frame", decimal(m.GetFrame()), "must be "+decimal(number)+": frames are numbered from 1 and rise by one")
	}
	if n := len(m.GetForget()); n > maxTokens {
		return invalid("forget", strconv.Itoa(n)+" tokens", "must be at most "+strconv.Itoa(maxTokens)+" tokens")
	}
	tokens, err := tokensFrom("tokens", m.GetTokens())
	if err == nil {
		tokens, err = groupsFrom(m.GetGroups(), tokens)
	}
	holder, badHolder := holderFrom(m.GetIdentity())
	if err := cmp.Or(err, badHolder); err != nil {
		return err
	}
	if len(m.GetForget()) > 0 {
		late := time.AfterFunc(holdUp, frame.Drop)
		defer late.Stop()
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
	frame.Refresh(k.ctx, owner, tokens, func() { k.ready <- refreshed{number, m.GetGrouped(), frame, owner} })
	return nil
}

// run serves the stream until it ends.
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

// answer sends what a refresh found, and makes room for the next.
func (k *keepAlive) answer(r refreshed, send func(*gatekeeperv1.KeepAliveResponse) error) error {
	var results []keeper.TokenResult
	err := k.caught(func() (err error) {
		results, err = r.frame.Results()
		return err
	})
	if err != nil {
		return err
	}
	k.hid(r.owner, results)
	answer := &gatekeeperv1.KeepAliveResponse{Frame: r.number}
	if r.grouped {
		results, answer.Refreshed = plainly(results)
	}
	answer.Results = toResults(results)
	if err := send(answer); err != nil {
		return err
	}
	k.release(1)
	return nil
}
