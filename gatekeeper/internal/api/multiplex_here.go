package api

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// here carries calls out on this server, which leads.
type here struct {
	*multiplex
	service *permitService
}

// serveHere serves the stream as long as the leadership lasts under which it was opened.
func (m *multiplex) serveHere(s *permitService, stream grpc.BidiStreamingServer[gatekeeperv1.MultiplexRequest, gatekeeperv1.MultiplexResponse]) error {
	m.carrier = &here{m, s}
	listener := s.keeper.Listen()
	defer listener.Close()
	over := make(chan error, 1)
	go func() {
		select {
		case <-listener.Notices(): // nothing is followed: it can only be closed
			over <- &consensus.NotLeaderError{Leader: s.cfg.Consensus.Leader()}
		case <-m.ctx.Done():
		}
	}()
	return m.run(stream, over)
}

func (h *here) carry(calls []*heldCall) {
	h.work.Go(func() { h.begin(calls) })
}

// begin answers what is refused by admission, by its form, or by what is in memory, and lets everything else go its own way.
func (h *here) begin(calls []*heldCall) {
	answers := make([]*gatekeeperv1.NumberedAnswer, 0, len(calls))
	_, err := h.api.caught(h.ctx, gatekeeperv1.PermitService_Multiplex_FullMethodName, func() (any, error) {
		h.together(calls, &answers)
		return nil, nil //nolint:nilnil // it answers by itself
	})
	if err != nil { // one of them panicked: the others are answered, and on its own it is by its panic
		for _, c := range calls {
			if !c.begun {
				h.alone(c)
			}
		}
	}
	h.reply(answers...)
}

// check admits and validates a call. alone says that it is not to be asked with others.
func (h *here) check(c *heldCall) (ask *keeper.AcquireCall, alone bool, err error) {
	if err := h.admit(c); err != nil {
		return nil, false, err
	}
	left, err := durationFrom("timeout", c.GetTimeout(), time.Hour)
	if err != nil {
		return nil, false, err
	}
	if left <= 0 {
		return nil, false, context.DeadlineExceeded
	}
	m := c.GetTryAcquire()
	if m == nil {
		return nil, true, nil
	}
	ask, err = tryAcquireFrom(m, c.received)
	return ask, false, err
}

// together adds the answers of those that are answered together.
func (h *here) together(calls []*heldCall, answers *[]*gatekeeperv1.NumberedAnswer) {
	asked := make([]*heldCall, 0, len(calls))
	asks := make([]*keeper.AcquireCall, 0, len(calls))
	end := func(c *heldCall, answer *gatekeeperv1.NumberedAnswer, err error) {
		c.begun = true
		*answers = append(*answers, h.answered(c, answer, err))
	}
	for _, c := range calls {
		ask, alone, err := h.check(c)
		switch {
		case err != nil:
			end(c, nil, err)
		case alone:
			h.alone(c)
		default:
			asked, asks = append(asked, c), append(asks, ask)
		}
	}
	if len(asks) == 0 {
		return
	}
	written := newDenials()
	h.service.keeper.TryAcquireTogether(h.ctx, asks, func(i int) { h.alone(asked[i]) },
		func(i int, a keeper.Answer, err error) {
			var answer *gatekeeperv1.NumberedAnswer
			if err == nil {
				answer = written.answer(a.Denial, asks[i].Firing)
			}
			end(asked[i], answer, err)
		})
}

// alone lets a call go its own way, until its time is over or its caller gives it up.
func (h *here) alone(c *heldCall) {
	ctx, cancel := c.within(h.ctx)
	c.begun = true
	h.mu.Lock()
	c.cancel = cancel
	if c.given {
		cancel()
	}
	h.mu.Unlock()
	h.work.Go(func() {
		defer cancel()
		answer := new(gatekeeperv1.NumberedAnswer)
		_, err := h.api.caught(ctx, c.method, func() (any, error) { return nil, h.call(ctx, c, answer) })
		h.reply(h.answered(c, answer, err))
	})
}

// within is the context of a call of its own: that of its stream, until the call's time is over. Whoever has it cancels it, or the stream
// would keep it.
func (c *heldCall) within(stream context.Context) (context.Context, context.CancelFunc) {
	if c.GetTimeout() == nil {
		return context.WithCancel(stream)
	}
	return context.WithDeadline(stream, c.received.Add(c.GetTimeout().AsDuration()))
}

// call makes one call as if it were one of its own.
func (h *here) call(ctx context.Context, c *heldCall, answer *gatekeeperv1.NumberedAnswer) error {
	switch m := c.GetCall().(type) {
	case *gatekeeperv1.NumberedCall_TryAcquire:
		ask, err := tryAcquireFrom(m.TryAcquire, c.received)
		if err != nil {
			return err
		}
		r, err := h.service.tryAcquire(ctx, ask)
		answer.Answer = &gatekeeperv1.NumberedAnswer_TryAcquire{TryAcquire: r}
		return err
	case *gatekeeperv1.NumberedCall_Release:
		r, err := h.service.Release(ctx, m.Release)
		answer.Answer = &gatekeeperv1.NumberedAnswer_Release{Release: r}
		return err
	case *gatekeeperv1.NumberedCall_Refresh:
		r, err := h.service.refresh(ctx, m.Refresh, c.received)
		answer.Answer = &gatekeeperv1.NumberedAnswer_Refresh{Refresh: r}
		return err
	}
	return unknownCall()
}

func (h *here) greet() { h.hello() }

func (h *here) cancel(numbers []uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range numbers {
		c := h.calls[n]
		if c == nil {
			continue
		}
		c.given = true
		if c.cancel != nil {
			c.cancel()
		}
	}
}

// denials writes denials of calls that were decided together. Mostly they name the same holders, which are written once.
type denials struct {
	holders map[*semaphore.Permit]*gatekeeperv1.Permit
}

func newDenials() *denials { return &denials{make(map[*semaphore.Permit]*gatekeeperv1.Permit)} }

func (d *denials) answer(n *keeper.Denial, asked *semaphore.Firing) *gatekeeperv1.NumberedAnswer {
	denial := toDenialBy(n, asked, d.permit)
	return &gatekeeperv1.NumberedAnswer{Answer: &gatekeeperv1.NumberedAnswer_TryAcquire{TryAcquire: &gatekeeperv1.TryAcquireResponse{
		Outcome: &gatekeeperv1.TryAcquireResponse_Denial{Denial: denial},
	}}}
}

func (d *denials) permit(p *semaphore.Permit) *gatekeeperv1.Permit {
	out := d.holders[p]
	if out == nil {
		out = toPermit(p)
		d.holders[p] = out
	}
	return out
}
