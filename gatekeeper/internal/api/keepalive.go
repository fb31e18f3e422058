package api

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxFrames is how many frames of one stream are being refreshed at once. What a client sends beyond that waits in its
// connection's flow control.
const maxFrames = 8

// holdUp is how long a frame that has come in holds up expiries at most. It waits longer for its turn only if the client does not read what
// it is answered: then its own permits may end before its turn, and nobody else's last longer.
const holdUp = time.Second

// KeepAlive carries refreshes up, and results and notices down.
//
// One goroutine receives, and reads the time of each frame. The handler's own does everything else in order: it begins
// refreshes, which go on beside it, and is the only one that sends.
func (s *permitService) KeepAlive(stream grpc.BidiStreamingServer[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse]) error {
	ctx, cancel := context.WithCancel(stream.Context())
	listener := s.cfg.Keeper.Listen()
	k := &keepAlive{
		ctx:      ctx,
		listener: listener,
		frames:   make(chan frame),
		begun:    make(chan begun),
		results:  make(chan frameResult),
		caught: func(call func() error) error {
			_, err := s.caught(ctx, gatekeeperv1.PermitService_KeepAlive_FullMethodName, func() (any, error) { return nil, call() })
			return err
		},
	}
	defer listener.Close()
	defer k.refreshes.Wait()
	defer k.dropHeld()
	defer cancel() // the first of the three: refreshes end with it
	go k.receive(stream.Recv)
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
	listener Listener
	caught   func(call func() error) error // turns a panic into an error

	frames    chan frame       // from the receiver; the last one has err
	begun     chan begun       // to a refresher that has nothing to do
	results   chan frameResult // from the refreshers
	refreshes sync.WaitGroup   // counts the refreshers

	// Only run touches these.
	last     uint64 // number of the last frame
	inFlight int
	// refreshers is how many goroutines refresh. They stay: a new one for each frame would have to grow its stack each time.
	refreshers int
	held       *frame // waits until nothing is in flight
}

// frame is a received frame, or why there will be no more.
type frame struct {
	receipt keeper.Receipt // unless there is an error
	message *gatekeeperv1.KeepAliveRequest
	err     error
}

// begun is a frame whose refresh is to be done.
type begun struct {
	frame
	tokens []keeper.TokenRefresh
}

type frameResult struct {
	number  uint64
	grouped bool // the client reads groups
	results []keeper.TokenResult
	err     error
}

// drop gives the frame up.
func (f *frame) drop() {
	if f.err == nil {
		f.receipt.Drop()
	}
}

// receive reads frames until there are no more. It may be blocked in recv when the handler returns, which ends it.
func (k *keepAlive) receive(recv func() (*gatekeeperv1.KeepAliveRequest, error)) {
	late := time.NewTimer(holdUp)
	defer late.Stop()
	for {
		message, err := recv()
		f := frame{message: message, err: err}
		if err == nil {
			f.receipt = k.listener.Receive() // the time first of all
		}
		late.Reset(holdUp)
		select {
		case k.frames <- f:
		case <-late.C:
			f.drop()
			select {
			case k.frames <- f:
			case <-k.ctx.Done():
				return
			}
		case <-k.ctx.Done():
			f.drop()
			return
		}
		if err != nil {
			return
		}
	}
}

// run serves the stream until it ends.
func (k *keepAlive) run(send func(*gatekeeperv1.KeepAliveResponse) error) error {
	for halfClosed := false; !halfClosed || k.inFlight > 0; {
		frames := k.frames
		if halfClosed || k.held != nil || k.inFlight == maxFrames {
			frames = nil
		}
		var err error
		select {
		case f := <-frames:
			if errors.Is(f.err, io.EOF) { // what is in flight is still answered
				halfClosed = true
				continue
			}
			err = k.take(f)
		case r := <-k.results:
			err = k.answer(r, send)
		case notices, open := <-k.listener.Notices():
			if !open {
				return errNoNotices
			}
			err = send(&gatekeeperv1.KeepAliveResponse{Notices: toResults(notices)})
		case <-k.ctx.Done():
			err = k.ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take validates a frame and starts its refresh. One that forgets waits for those before it: they may follow the same tokens.
func (k *keepAlive) take(f frame) error {
	if f.err != nil {
		return f.err
	}
	if number := f.message.GetFrame(); number != k.last+1 {
		f.drop()
		return invalid("frame", decimal(number), "must be "+decimal(k.last+1)+": frames are numbered from 1 and rise by one")
	}
	k.last++
	if n := len(f.message.GetForget()); n > maxTokens {
		f.drop()
		return invalid("forget", strconv.Itoa(n)+" tokens", "must be at most "+strconv.Itoa(maxTokens)+" tokens")
	}
	if len(f.message.GetForget()) > 0 && k.inFlight > 0 {
		k.held = &f
		time.AfterFunc(holdUp, f.receipt.Drop)
		return nil
	}
	return k.begin(f)
}

func (k *keepAlive) begin(f frame) error {
	tokens, err := tokensFrom("tokens", f.message.GetTokens())
	if err == nil {
		tokens, err = groupsFrom(f.message.GetGroups(), tokens)
	}
	if err != nil {
		f.drop()
		return err
	}
	k.listener.Forget(f.message.GetForget()...)
	k.inFlight++
	b := begun{f, tokens}
	select {
	case k.begun <- b:
		return nil
	default:
	}
	if k.refreshers < maxFrames {
		k.refreshers++
		k.refreshes.Go(func() { k.refresher(b) })
		return nil
	}
	select {
	case k.begun <- b: // fewer than maxFrames are in flight, so one of them is about to be free
		return nil
	case <-k.ctx.Done():
		b.drop()
		return k.ctx.Err()
	}
}

// refresher refreshes one frame after the other, until the stream ends.
func (k *keepAlive) refresher(b begun) {
	for {
		k.refresh(b)
		select {
		case b = <-k.begun:
		case <-k.ctx.Done():
			return
		}
	}
}

// dropHeld gives up the frame that still waits for others.
func (k *keepAlive) dropHeld() {
	if k.held != nil {
		k.held.drop()
	}
}

func (k *keepAlive) refresh(b begun) {
	r := frameResult{number: b.message.GetFrame(), grouped: b.message.GetGrouped()}
	r.err = k.caught(func() (err error) {
		r.results, err = k.listener.Refresh(k.ctx, b.receipt, b.tokens)
		return err
	})
	select {
	case k.results <- r:
	case <-k.ctx.Done():
	}
}

// answer sends what a refresh found, and lets a frame begin that waited for it.
func (k *keepAlive) answer(r frameResult, send func(*gatekeeperv1.KeepAliveResponse) error) error {
	k.inFlight--
	if r.err != nil {
		return r.err
	}
	answer := &gatekeeperv1.KeepAliveResponse{Frame: r.number}
	if r.grouped {
		r.results, answer.Refreshed = plainly(r.results)
	}
	answer.Results = toResults(r.results)
	if err := send(answer); err != nil {
		return err
	}
	if k.held == nil || k.inFlight > 0 {
		return nil
	}
	f := *k.held
	k.held = nil
	return k.begin(f)
}
