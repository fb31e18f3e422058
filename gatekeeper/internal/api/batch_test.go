package api

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	spb "google.golang.org/genproto/googleapis/rpc/status"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// newTryAcquireRequest returns a TryAcquireRequest of weight 1.
func newTryAcquireRequest(sem, acquirer string) *gatekeeperv1.TryAcquireRequest {
	return &gatekeeperv1.TryAcquireRequest{Semaphore: sem, Identity: &gatekeeperv1.Identity{Acquirer: acquirer}, Weight: 1}
}

func (g *gate) batch(t *testing.T, requests ...*gatekeeperv1.TryAcquireRequest) ([]*gatekeeperv1.TryAcquireResult, error) {
	t.Helper()
	r, err := g.permits.BatchTryAcquire(ctx(t), &gatekeeperv1.BatchTryAcquireRequest{Requests: requests})
	if err == nil && len(r.GetResults()) != len(requests) {
		t.Fatalf("got %d results for %d requests", len(r.GetResults()), len(requests))
	}
	return r.GetResults(), err
}

func errorOf(r *gatekeeperv1.TryAcquireResult) error {
	e := r.GetError()
	return status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()}).Err()
}

// respondBySemaphore sets up g's keeper to respond to single calls and batches based on the semaphore's name.
func respondBySemaphore(g *gate) {
	holder := &semaphore.Permit{Semaphore: "held", Token: 3, Identity: semaphore.Identity{Group: "g", Acquirer: "holder"}, Metadata: map[string]string{"k": "v"}}
	answer := func(c *keeper.AcquireCall) (keeper.Answer, error) {
		switch c.Semaphore {
		case "granted":
			return keeper.Answer{Outcome: semaphore.Granted, Permit: &semaphore.Permit{Semaphore: c.Semaphore, Token: 9, Duration: time.Minute}}, nil
		case "changed":
			return keeper.Answer{}, &keeper.RevisionChangedError{Semaphore: c.Semaphore, Expected: 1, Current: 2}
		case "deposed":
			return keeper.Answer{}, &consensus.NotLeaderError{Leader: consensus.Leader{ID: "gk9", APIAddress: "there:1", Term: 8}}
		case "panic":
			panic("secret")
		}
		return keeper.Answer{Outcome: semaphore.Denied, Denial: &keeper.Denial{
			Decision: semaphore.Decision{Reason: semaphore.NoFreePermit}, Message: "taken", HolderCount: 1, RetryAfter: time.Second,
			Holders: []*semaphore.Permit{holder},
		}}, nil
	}
	g.keeper.tryAcquire = func(_ context.Context, c *keeper.AcquireCall) (keeper.Answer, error) { return answer(c) }
	g.keeper.denies = func(c *keeper.AcquireCall) (keeper.Answer, bool, error) {
		a, err := answer(c)
		return a, a.Denial != nil, err
	}
}

func TestBatch_Requests_MatchSingleCallsOrStayOpen(t *testing.T) {
	leader, follower := pair(t)
	respondBySemaphore(leader)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		tooLong := newTryAcquireRequest("held", "h")
		tooLong.RequestId = long(129)
		requests := []*gatekeeperv1.TryAcquireRequest{
			newTryAcquireRequest("held", "h"), newTryAcquireRequest("granted", "h"), newTryAcquireRequest("changed", "h"), newTryAcquireRequest("a*", "h"), newTryAcquireRequest("deposed", "h"), {Semaphore: "held"}, tooLong, newTryAcquireRequest("held", "i"),
		}
		results, err := g.batch(t, requests...)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range requests {
			reply, err := g.permits.TryAcquire(ctx(t), q)
			if diff := cmp.Diff(statusContents(err), statusContents(errorOf(results[i])), protocmp.Transform()); diff != "" {
				t.Errorf("%s, request %d: error from a single call (-) and from a batch (+):\n%s", where, i, diff)
			}
			if diff := cmp.Diff(reply.GetDenial(), results[i].GetDenial(), protocmp.Transform()); diff != "" {
				t.Errorf("%s, request %d: denial from a single call (-) and from a batch (+):\n%s", where, i, diff)
			}
			if open := results[i].GetResult() == nil; open != (reply.GetGrant() != nil) {
				t.Errorf("%s, request %d: left open = %v, but TryAcquire() = %v", where, i, open, reply)
			}
		}
	}
}

func TestBatch_InvalidSize_IsRefused(t *testing.T) {
	leader, follower := pair(t)
	respondBySemaphore(leader)
	for _, g := range []*gate{leader, follower} {
		for _, n := range []int{0, maxBatch + 1} {
			_, err := g.batch(t, make([]*gatekeeperv1.TryAcquireRequest, n)...)
			if field := want(t, err, codes.InvalidArgument, "INVALID_FIELD")["field"]; field != "requests" {
				t.Errorf("%d requests: got field %q, want requests", n, field)
			}
		}
		raw := rawBytes{0x0a, 3, 0x0a, 1, 0xff}
		err := g.conn.Invoke(ctx(t), gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName, raw, new(gatekeeperv1.BatchTryAcquireResponse),
			grpc.ForceCodecV2(rawCodec{encoding.GetCodecV2(encodingproto.Name)}))
		if field := want(t, err, codes.InvalidArgument, "INVALID_FIELD")["field"]; field != "requests[0].semaphore" {
			t.Errorf("invalid UTF-8: got field %q, want requests[0].semaphore", field)
		}
	}
}

// The batch itself does not count as one of its requests, so the largest batch fits within the connection limit.
func TestBatch_LargestBatch_IsAdmitted(t *testing.T) {
	g := open(t)
	respondBySemaphore(g)
	requests := make([]*gatekeeperv1.TryAcquireRequest, maxBatch)
	for i := range requests {
		requests[i] = newTryAcquireRequest("held", fmt.Sprint(i))
	}
	results, err := g.batch(t, requests...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.GetDenial() == nil {
			t.Fatalf("request %d: got %v, want a denial", i, r)
		}
	}
}

// A batch of denials could exceed the default message limit of gRPC clients.
func TestBatch_LargeResults_LeaveRemainingRequestsOpen(t *testing.T) {
	metrics := new(countingMetrics)
	g := open(t, func(c *Config) { c.Metrics = metrics })
	g.keeper.denies = func(*keeper.AcquireCall) (keeper.Answer, bool, error) {
		return keeper.Answer{Outcome: semaphore.Denied, Denial: &keeper.Denial{Message: long(10_000)}}, true, nil
	}
	requests := make([]*gatekeeperv1.TryAcquireRequest, 200)
	for i := range requests {
		requests[i] = newTryAcquireRequest("held", fmt.Sprint(i))
	}
	results, err := g.batch(t, requests...)
	if err != nil {
		t.Fatal(err)
	}
	if size := proto.Size(&gatekeeperv1.BatchTryAcquireResponse{Results: results}); size > maxBatchBytes+len(results)*8 || size < maxBatchBytes/2 {
		t.Errorf("got a response of %d bytes, want about maxBatchBytes", size)
	}
	if results[0].GetDenial() == nil || results[len(results)-1].GetResult() != nil {
		t.Error("want a denial for the first request and the last one left open")
	}
	answered := 0
	for _, r := range results {
		if r.GetResult() != nil {
			answered++
		}
	}
	// Requests that are left open are not counted, because their callers retry them.
	if n := metrics.count("ended /gatekeeper.v1.PermitService/TryAcquire OK"); n != answered {
		t.Errorf("got %d counted requests, want %d", n, answered)
	}
}

// A batch may hold a 4 MiB message and its results in memory, so the number of batches in progress is limited.
func TestBatch_AboveConnectionLimit_IsRefused(t *testing.T) {
	g := open(t, withWorkLimit(16)) // 16 batches in progress, at most 4 on one connection
	unblock := make(chan struct{})
	started := make(chan struct{}, 10)
	g.keeper.denies = func(*keeper.AcquireCall) (keeper.Answer, bool, error) {
		started <- struct{}{}
		<-unblock
		return keeper.Answer{Outcome: semaphore.Denied, Denial: new(keeper.Denial)}, true, nil
	}
	answers := make(chan error, 4)
	for i := range 4 {
		go func() {
			_, err := g.permits.BatchTryAcquire(ctx(t), &gatekeeperv1.BatchTryAcquireRequest{
				Requests: []*gatekeeperv1.TryAcquireRequest{newTryAcquireRequest("held", fmt.Sprint(i))},
			})
			answers <- err
		}()
		receiveFrom(t, started)
	}
	_, err := g.batch(t, newTryAcquireRequest("held", "another"))
	wantOverloaded(t, err, "connection")
	if !strings.Contains(err.Error(), "4 batch calls in progress") {
		t.Errorf("got %v, want the limit of 4 batch calls", err)
	}
	close(unblock)
	for range 4 {
		if err := receiveFrom(t, answers); err != nil {
			t.Error(err)
		}
	}
	if _, err := g.batch(t, newTryAcquireRequest("held", "another")); err != nil {
		t.Errorf("batch after the other batches finished: %v", err)
	}
}

func TestBatch_Requests_AreAdmittedLikeSingleCalls(t *testing.T) {
	leader, follower := pair(t, withWorkLimit(16))
	respondBySemaphore(leader)
	for where, g := range map[string]*gate{"the leader": leader, "a follower": follower} {
		requests := make([]*gatekeeperv1.TryAcquireRequest, 8)
		for i := range requests {
			requests[i] = newTryAcquireRequest("held", fmt.Sprint(i))
		}
		results, err := g.batch(t, requests...)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results { // a connection may use a quarter of the limit
			if i < 4 && r.GetDenial() == nil {
				t.Errorf("%s: request %d: got %v, want a denial", where, i, r)
			}
			if i >= 4 {
				wantOverloaded(t, errorOf(r), "connection")
			}
		}
	}
	for _, g := range []*gate{leader, follower} {
		eventually(t, "no calls are open", func() bool {
			return g.api.cfg.Admission.OpenCalls() == 0 && g.api.cfg.Admission.CallsInProgress(admission.Ordinary) == 0
		})
	}
}

func TestBatch_Requests_AreCountedLikeSingleCalls(t *testing.T) {
	metrics := new(countingMetrics)
	leader, follower := pair(t, func(c *Config) { c.Metrics = metrics })
	respondBySemaphore(leader)
	if _, err := follower.batch(t, newTryAcquireRequest("held", "h"), newTryAcquireRequest("a*", "h"), newTryAcquireRequest("granted", "h")); err != nil {
		t.Fatal(err)
	}
	for s, count := range map[string]int{
		"forwarded /gatekeeper.v1.PermitService/BatchTryAcquire":                      1,
		"ended /gatekeeper.v1.PermitService/BatchTryAcquire OK":                       2, // once on each server
		"ended /gatekeeper.v1.PermitService/TryAcquire OK":                            2,
		"ended /gatekeeper.v1.PermitService/TryAcquire InvalidArgument INVALID_FIELD": 1, // not forwarded
	} {
		if n := metrics.count(s); n != count {
			t.Errorf("%s: counted %d times, want %d", s, n, count)
		}
	}
}

// A batch is read-only, so it never fails with an unknown outcome.
func TestBatch_ForwardingInterrupted_OutcomeIsKnown(t *testing.T) {
	leader, follower := pair(t)
	started, release := make(chan struct{}, 1), make(chan struct{})
	defer close(release)
	leader.keeper.denies = func(*keeper.AcquireCall) (keeper.Answer, bool, error) {
		started <- struct{}{}
		<-release
		return keeper.Answer{}, false, nil
	}
	errs := make(chan error, 1)
	go func() {
		_, err := follower.permits.BatchTryAcquire(ctx(t), &gatekeeperv1.BatchTryAcquireRequest{Requests: []*gatekeeperv1.TryAcquireRequest{newTryAcquireRequest("held", "h")}})
		errs <- err
	}()
	receiveFrom(t, started)
	follower.consensus.follow(consensus.Leader{ID: "gk3", APIAddress: "there:1", Term: 2})
	if info := want(t, receiveFrom(t, errs), codes.Unavailable, "NOT_LEADER"); info["leader_api"] != "there:1" {
		t.Errorf("batch failed with metadata %v, want the address of the new leader", info)
	}
}

func TestBatch_Panic_FailsBatchAndLeavesNoOpenCalls(t *testing.T) {
	g := open(t)
	respondBySemaphore(g)
	_, err := g.batch(t, newTryAcquireRequest("held", "h"), newTryAcquireRequest("panic", "h"))
	want(t, err, codes.Internal, "INTERNAL")
	eventually(t, "no calls are open", func() bool { return g.api.cfg.Admission.OpenCalls() == 0 })
}

// FuzzBatch checks that every valid batch gets one result per request, and that no calls are left open.
func FuzzBatch(f *testing.F) {
	for _, seed := range []*gatekeeperv1.BatchTryAcquireRequest{
		{}, {Requests: []*gatekeeperv1.TryAcquireRequest{newTryAcquireRequest("held", "h"), newTryAcquireRequest("granted", "h"), newTryAcquireRequest("a*", ""), nil}},
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
	respondBySemaphore(&gate{keeper: k})
	s := &permitService{API: a, keeper: a.cfg.Keeper}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := new(gatekeeperv1.BatchTryAcquireRequest)
		if proto.Unmarshal(data, m) != nil {
			return
		}
		for _, r := range m.GetRequests() {
			if r.GetSemaphore() == "panic" {
				return
			}
		}
		r, err := s.BatchTryAcquire(t.Context(), m)
		if err != nil {
			want(t, toStatus(err), codes.InvalidArgument, "INVALID_FIELD")
		} else if len(r.GetResults()) != len(m.GetRequests()) {
			t.Errorf("got %d results for %d requests", len(r.GetResults()), len(m.GetRequests()))
		}
		if n := a.cfg.Admission.OpenCalls(); n != 0 {
			t.Errorf("%d calls are still open, want 0", n)
		}
	})
}
