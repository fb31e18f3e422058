package api

import (
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// onward passes calls on to the leader, on a stream of their own, under the numbers that they have here.
type onward struct {
	*multiplex
	forwarder *forwarder
	hop       *hop
	leader    grpc.BidiStreamingClient[gatekeeperv1.MultiplexRequest, gatekeeperv1.MultiplexResponse]
	reached   peer.Peer

	greeted int // empty frames that the leader has not answered; guarded by multiplex.mu

	passing sync.Mutex // guards ended, which calls were passed, and sending to the leader
	ended   error      // why nothing is passed on any more; nil: it is
}

// passOn serves the stream as long as the leadership lasts, as far as this server knows, under which it was opened.
func (m *multiplex) passOn(f *forwarder, stream grpc.BidiStreamingServer[gatekeeperv1.MultiplexRequest, gatekeeperv1.MultiplexResponse]) error {
	h, err := f.way(stream.Context())
	if err != nil {
		return err
	}
	o := &onward{multiplex: m, forwarder: f, hop: h}
	m.carrier = o
	f.metrics.Forwarded(gatekeeperv1.PermitService_Multiplex_FullMethodName)
	out, cancel := h.outgoing(m.ctx, f.id)
	defer cancel()
	if o.leader, err = gatekeeperv1.NewPermitServiceClient(h.conn).Multiplex(out, grpc.Peer(&o.reached)); err != nil {
		return o.explain(err, gatekeeperv1.PermitService_Multiplex_FullMethodName)
	}
	over := make(chan error, 1)
	var listening sync.WaitGroup
	listening.Go(func() { over <- o.listen() })
	defer listening.Wait()
	defer cancel() // the first of the two
	return m.run(stream, over)
}

// explain says what the end of the leader's stream means for a call of that method.
func (o *onward) explain(err error, method string) error {
	if errors.Is(err, io.EOF) { // it has not said how far it came
		return &brokenHopError{o.hop.leader, errLeadershipOver}
	}
	return o.forwarder.explain(o.ctx, o.hop, o.forwarder.methods[method], &o.reached, err)
}

// carry counts on each call that is passed on in m.work until it is answered.
func (o *onward) carry(calls []*heldCall) {
	var answers []*gatekeeperv1.NumberedAnswer
	pass := make([]*gatekeeperv1.NumberedCall, 0, len(calls))
	o.passing.Lock()
	for _, c := range calls {
		err := o.admit(c)
		if err == nil {
			err = o.ended
		}
		if err != nil {
			answers = append(answers, o.answered(c, nil, err))
			continue
		}
		o.forwarder.metrics.Forwarded(c.method)
		c.passed = true
		o.work.Add(1)
		pass = append(pass, c.NumberedCall)
	}
	if len(pass) > 0 {
		_ = o.leader.Send(&gatekeeperv1.MultiplexRequest{Calls: pass}) // how the stream ended is told to the listener
	}
	o.passing.Unlock()
	if len(answers) > 0 {
		o.reply(answers...)
	}
}

func (o *onward) cancel(numbers []uint64) {
	if len(numbers) > 0 {
		o.passing.Lock()
		defer o.passing.Unlock()
		_ = o.leader.Send(&gatekeeperv1.MultiplexRequest{Cancel: numbers})
	}
}

// greet asks the leader: the client is to learn that the whole way is there.
func (o *onward) greet() {
	o.passing.Lock()
	defer o.passing.Unlock()
	if o.ended != nil {
		return
	}
	o.mu.Lock()
	o.greeted++
	o.work.Add(1)
	o.mu.Unlock()
	_ = o.leader.Send(&gatekeeperv1.MultiplexRequest{})
}

// listen hands on what the leader answers until its stream ends, and returns how it did. What it leaves open fails as calls do that were
// passed on, one by one.
func (o *onward) listen() error {
	inOrder := false // the leader has answered everything that it has taken on
	for {
		r, err := o.leader.Recv()
		if err != nil {
			return o.over(err, inOrder)
		}
		inOrder = inOrder || r.Taken != nil
		if len(r.GetAnswers()) == 0 && r.Taken == nil && o.greeting() {
			o.hello()
			o.work.Done()
		}
		answers := make([]*gatekeeperv1.NumberedAnswer, 0, len(r.GetAnswers()))
		for _, a := range r.GetAnswers() {
			c := o.answerable(a.GetNumber())
			if c == nil {
				continue // of none that is open
			}
			var failed error
			if e := a.GetError(); e != nil {
				failed = statusFrom(e).Err()
			}
			answers = append(answers, o.answered(c, a, failed))
		}
		o.done(answers)
	}
}

// done sends answers of calls that were passed on.
func (o *onward) done(answers []*gatekeeperv1.NumberedAnswer) {
	if len(answers) > 0 {
		o.reply(answers...)
		o.work.Add(-len(answers))
	}
}

// greeting tells whether an empty frame is still to be answered, and counts it as answered.
func (o *onward) greeting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.greeted == 0 {
		return false
	}
	o.greeted--
	return true
}

// answerable returns the call of that number, once.
func (o *onward) answerable(number uint64) *heldCall {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.calls[number]
	delete(o.calls, number)
	return c
}

// over answers what was passed on and not answered, and returns how this stream is to end.
func (o *onward) over(err error, inOrder bool) error {
	means := func(method string) error { return o.explain(err, method) }
	if inOrder { // what it has not answered it has not taken on
		means = func(string) error { return &consensus.NotLeaderError{Leader: o.forwarder.consensus.Leader()} }
	}
	ended := means(gatekeeperv1.PermitService_Multiplex_FullMethodName)
	o.passing.Lock()
	o.ended = &unreachableError{o.hop.leader, errLeadershipOver}
	o.passing.Unlock()
	// Nothing more is passed on. What was is known under both locks.
	var answers []*gatekeeperv1.NumberedAnswer
	for _, c := range o.open() {
		answers = append(answers, o.answered(c, nil, means(c.method)))
	}
	o.done(answers)
	return ended
}

// open are the calls that were passed on and not answered. Empty frames will not be answered any more either.
func (o *onward) open() []*heldCall {
	o.passing.Lock()
	defer o.passing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.work.Add(-o.greeted)
	o.greeted = 0
	var open []*heldCall
	for _, c := range o.calls {
		if c.passed {
			open = append(open, c)
		}
	}
	return open
}
