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
	// maxBatch is the maximum number of requests in a batch. It is frozen: clients fill batches to this size.
	maxBatch = 1024
	// maxBatchBytes is the maximum size of the results in a batch. gRPC clients accept 4 MiB by default.
	maxBatchBytes = 1 << 20
)

// BatchTryAcquire returns a denial or an error for each request that it can resolve without changing the state, and
// leaves the other requests open. Each request is admitted, validated, evaluated and counted like a TryAcquire. A
// follower forwards the requests that it has admitted.
func (s *permitService) BatchTryAcquire(ctx context.Context, m *gatekeeperv1.BatchTryAcquireRequest) (*gatekeeperv1.BatchTryAcquireResponse, error) {
	b := &batch{s: s, ctx: ctx, received: time.Now()} // read first, because clients start measuring before this call
	defer b.end()
	n := len(m.GetRequests())
	if n < 1 || n > maxBatch {
		return nil, invalid("requests", strconv.Itoa(n), "must be 1 to "+strconv.Itoa(maxBatch)+" requests")
	}
	b.open(m.GetRequests())
	if !s.forward.isLeader() {
		return b.reply, b.forwardOpen(m.GetRequests())
	}
	cache := make(holderCache)
	s.keeper.TryAcquireTogether(ctx, b.calls, func(i int, a keeper.Answer, err error) {
		if err != nil {
			b.setResult(b.indexes[i], nil, err)
			return
		}
		b.setResult(b.indexes[i], toDenialWith(a.Denial, b.calls[i].Firing, cache.permit), nil)
	})
	return b.reply, nil
}

// batch holds the state of a batch in progress.
type batch struct {
	s        *permitService
	ctx      context.Context //nolint:containedctx // the context of the batch's call
	received time.Time
	admitted []*admission.Call
	calls    []*keeper.AcquireCall // the calls without a result
	indexes  []int                 // the index of each call in the batch
	reply    *gatekeeperv1.BatchTryAcquireResponse
	bytes    int // size of the results
}

// open admits and validates the requests and sets an error for each refused one.
func (b *batch) open(requests []*gatekeeperv1.TryAcquireRequest) {
	b.reply = &gatekeeperv1.BatchTryAcquireResponse{Results: make([]*gatekeeperv1.TryAcquireResult, len(requests))}
	results := make([]gatekeeperv1.TryAcquireResult, len(requests)) // a single allocation
	for i, r := range requests {
		b.reply.Results[i] = &results[i]
		call, err := b.admit(r)
		if err != nil {
			b.setResult(i, nil, err)
			continue
		}
		b.calls, b.indexes = append(b.calls, call), append(b.indexes, i)
	}
}

func (b *batch) admit(r *gatekeeperv1.TryAcquireRequest) (*keeper.AcquireCall, error) {
	admitted, err := b.s.admit(b.ctx, traitsOf(gatekeeperv1.PermitService_TryAcquire_FullMethodName).kind)
	if err != nil {
		return nil, err
	}
	b.admitted = append(b.admitted, admitted)
	if err := b.s.startWork(b.ctx, admitted, r); err != nil {
		return nil, err
	}
	return tryAcquireFrom(r, b.received)
}

// end ends all admitted calls. A request that was left open is admitted again when its caller sends it separately.
func (b *batch) end() {
	for _, a := range b.admitted {
		a.End()
	}
}

// forwardOpen forwards the requests without a result to the leader.
func (b *batch) forwardOpen(requests []*gatekeeperv1.TryAcquireRequest) error {
	remaining := make([]*gatekeeperv1.TryAcquireRequest, len(b.indexes))
	for i, index := range b.indexes {
		remaining[i] = requests[index]
	}
	if len(remaining) == 0 {
		return nil
	}
	reply, err := b.s.forward.forwardUnary(b.ctx, gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName, &gatekeeperv1.BatchTryAcquireRequest{Requests: remaining})
	if err != nil {
		return err
	}
	resp, ok := reply.(*gatekeeperv1.BatchTryAcquireResponse)
	if !ok || len(resp.GetResults()) != len(remaining) {
		return errors.New("the leader's response does not match the batch")
	}
	for i, r := range resp.GetResults() {
		switch result := r.GetResult().(type) {
		case *gatekeeperv1.TryAcquireResult_Denial:
			b.setResult(b.indexes[i], result.Denial, nil)
		case *gatekeeperv1.TryAcquireResult_Error:
			e := result.Error
			if err := status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err(); err != nil {
				b.setResult(b.indexes[i], nil, err)
			}
		}
	}
	return nil
}

// setResult sets a request's result and counts the request as a finished TryAcquire. If the batch is full, it leaves
// the request open, to be counted when its caller sends it separately.
func (b *batch) setResult(index int, denial *gatekeeperv1.Denial, err error) {
	r := b.reply.Results[index]
	if err = toStatus(b.s.rewordNotReady(err)); err != nil {
		e := status.Convert(err).Proto()
		r.Result = &gatekeeperv1.TryAcquireResult_Error{Error: &gatekeeperv1.CallError{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}}
	} else {
		r.Result = &gatekeeperv1.TryAcquireResult_Denial{Denial: denial}
	}
	if b.bytes += proto.Size(r); b.bytes > maxBatchBytes {
		r.Result = nil
		return
	}
	_ = b.s.finish(b.ctx, gatekeeperv1.PermitService_TryAcquire_FullMethodName, b.received, err) // already a status
}

// holderCache caches converted holders, because most denials in a batch name the same ones.
type holderCache map[*semaphore.Permit]*gatekeeperv1.Permit

func (d holderCache) permit(p *semaphore.Permit) *gatekeeperv1.Permit {
	out := d[p]
	if out == nil {
		out = toPermit(p)
		d[p] = out
	}
	return out
}
