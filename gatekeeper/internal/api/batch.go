package api

import (
	"context"
	"errors"
	"strconv"
	"time"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

const (
	// maxBatch is the most requests of a batch. It is frozen: clients fill batches up to it.
	maxBatch = 1024
	// maxBatchBytes is the most bytes of answers in a batch. gRPC's clients accept 4 MiB by default.
	maxBatchBytes = 1 << 20
)

// BatchTryAcquire answers the requests whose answer changes nothing, and leaves the others open. Each request is
// admitted, validated, counted and decided as a TryAcquire. A follower passes what it has admitted on to the leader.
func (s *permitService) BatchTryAcquire(ctx context.Context, m *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
	b := &batch{s: s, ctx: ctx, received: time.Now()} // first of all: the callers count from before it
	defer b.end()
	n := len(m.GetRequests())
	if n < 1 || n > maxBatch {
		return nil, invalid("requests", strconv.Itoa(n), "must be 1 to "+strconv.Itoa(maxBatch)+" of them")
	}
	b.open(m.GetRequests())
	if !s.forward.leading() {
		return b.reply, b.pass(m.GetRequests())
	}
	written := make(denials)
	s.keeper.TryAcquireTogether(ctx, b.calls, func(i int, a keeper.Answer, err error) {
		if err != nil {
			b.answer(b.places[i], nil, err)
			return
		}
		b.answer(b.places[i], toDenialBy(a.Denial, b.calls[i].Firing, written.permit), nil)
	})
	return b.reply, nil
}

// batch is one batch on its way.
type batch struct {
	s        *permitService
	ctx      context.Context //nolint:containedctx // that of the call which brought the batch
	received time.Time
	admitted []*admission.Call
	calls    []*keeper.AcquireCall // those that have no answer yet
	places   []int                 // the index of each call in the batch
	reply    *gatekeeperv1.BatchTryAcquireResponse
	bytes    int // of the answers
}

// open admits and validates the requests, and answers those that are refused.
func (b *batch) open(requests []*gatekeeperv1.TryAcquireRequest) {
	b.reply = &gatekeeperv1.BatchTryAcquireResponse{Results: make([]*gatekeeperv1.TryAcquireResult, len(requests))}
	results := make([]gatekeeperv1.TryAcquireResult, len(requests)) // one allocation for all of them
	for i, r := range requests {
		b.reply.Results[i] = &results[i]
		call, err := b.admit(r)
		if err != nil {
			b.answer(i, nil, err)
			continue
		}
		b.calls, b.places = append(b.calls, call), append(b.places, i)
	}
}

func (b *batch) admit(r *gatekeeperv1.TryAcquireRequest) (*keeper.AcquireCall, error) {
	admitted, err := b.s.admit(b.ctx, traitsOf(gatekeeperv1.PermitService_TryAcquire_FullMethodName).kind)
	if err != nil {
		return nil, err
	}
	b.admitted = append(b.admitted, admitted)
	if err := b.s.work(b.ctx, admitted, r); err != nil {
		return nil, err
	}
	return tryAcquireFrom(r, b.received)
}

// end ends the admitted calls, answered or not: an open one is admitted again when its caller asks alone.
func (b *batch) end() {
	for _, a := range b.admitted {
		a.End()
	}
}

// pass has the leader answer the calls that are left.
func (b *batch) pass(requests []*gatekeeperv1.TryAcquireRequest) error {
	left := make([]*gatekeeperv1.TryAcquireRequest, len(b.places))
	for i, place := range b.places {
		left[i] = requests[place]
	}
	if len(left) == 0 {
		return nil
	}
	reply, err := b.s.forward.pass(b.ctx, gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName, &gatekeeperv1.BatchTryAcquireRequest{Requests: left})
	if err != nil {
		return err
	}
	from, ok := reply.(*gatekeeperv1.BatchTryAcquireResponse)
	if !ok || len(from.GetResults()) != len(left) {
		return errors.New("the leader's answer does not fit the batch")
	}
	for i, r := range from.GetResults() {
		switch result := r.GetResult().(type) {
		case *gatekeeperv1.TryAcquireResult_Denial:
			b.answer(b.places[i], result.Denial, nil)
		case *gatekeeperv1.TryAcquireResult_Error:
			e := result.Error
			if err := status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err(); err != nil {
				b.answer(b.places[i], nil, err)
			}
		}
	}
	return nil
}

// answer writes the answer of a request and counts it as a TryAcquire that has ended. If the batch is full, it leaves
// the request open, to be counted when its caller asks alone.
func (b *batch) answer(place int, denial *gatekeeperv1.Denial, err error) {
	r := b.reply.Results[place]
	if err = toStatus(b.s.unready(err)); err != nil {
		e := status.Convert(err).Proto()
		r.Result = &gatekeeperv1.TryAcquireResult_Error{Error: &gatekeeperv1.CallError{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}}
	} else {
		r.Result = &gatekeeperv1.TryAcquireResult_Denial{Denial: denial}
	}
	if b.bytes += proto.Size(r); b.bytes > maxBatchBytes {
		r.Result = nil
		return
	}
	_ = b.s.ended(b.ctx, gatekeeperv1.PermitService_TryAcquire_FullMethodName, b.received, err) // it is a status already
}

// denials remembers the holders that were converted: most denials of a batch name the same ones.
type denials map[*semaphore.Permit]*gatekeeperv1.Permit

func (d denials) permit(p *semaphore.Permit) *gatekeeperv1.Permit {
	out := d[p]
	if out == nil {
		out = toPermit(p)
		d[p] = out
	}
	return out
}
