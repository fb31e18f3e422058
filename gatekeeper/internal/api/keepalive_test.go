package api

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

type keepAliveClient = grpc.BidiStreamingClient[gatekeeperv1.KeepAliveRequest, gatekeeperv1.KeepAliveResponse]

func frameOf(number uint64, tokens ...uint64) *gatekeeperv1.KeepAliveRequest {
	m := &gatekeeperv1.KeepAliveRequest{Frame: number}
	for _, token := range tokens {
		m.Tokens = append(m.Tokens, &gatekeeperv1.TokenRefresh{Token: token, Duration: durationpb.New(time.Minute)})
	}
	return m
}

// groupFrame returns a first frame with one group of tokens.
func groupFrame(tokens ...uint64) *gatekeeperv1.KeepAliveRequest {
	return &gatekeeperv1.KeepAliveRequest{
		Frame: 1, Grouped: true, Groups: []*gatekeeperv1.TokenGroup{{Duration: durationpb.New(time.Minute), Tokens: tokens}},
	}
}

func manyTokens() []uint64 {
	tokens := make([]uint64, maxTokens)
	for i := range tokens {
		tokens[i] = uint64(i) + 1
	}
	return tokens
}

// refreshAll implements Refresh by refreshing every token.
func refreshAll(_ context.Context, _ time.Time, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
	out := make([]keeper.TokenResult, len(tokens))
	for i, t := range tokens {
		out[i] = keeper.TokenResult{Token: t.Token, Status: keeper.StatusRefreshed, Duration: t.Duration}
	}
	return out, nil
}

// keepAliveOn opens a stream and returns it with its fake listener.
func keepAliveOn(t *testing.T, client gatekeeperv1.PermitServiceClient, g *gate) (keepAliveClient, *fakeListener) {
	t.Helper()
	stream := must(client.KeepAlive(ctx(t)))(t)
	return stream, receiveFrom(t, g.keeper.listening)
}

func send(t *testing.T, stream keepAliveClient, m *gatekeeperv1.KeepAliveRequest) {
	t.Helper()
	if err := stream.Send(m); err != nil {
		t.Fatal(err)
	}
}

func recv(t *testing.T, stream keepAliveClient) *gatekeeperv1.KeepAliveResponse {
	t.Helper()
	return must(stream.Recv())(t)
}

func TestKeepAlive_Groups_OnlyPlainRefreshesAreGrouped(t *testing.T) {
	g := open(t)
	g.keeper.refresh = func(_ context.Context, _ time.Time, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		var seen []uint64
		for _, token := range tokens {
			seen = append(seen, token.Token)
			if token.Duration != time.Minute || token.Reports {
				t.Errorf("Refresh() called with token %+v, want a duration of one minute and no report", token)
			}
		}
		if !slices.Equal(seen, []uint64{1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("Refresh() called with tokens %v, want 1 to 7", seen)
		}
		return []keeper.TokenResult{
			{Token: 1, Status: keeper.StatusRefreshed, Duration: time.Minute},
			{Token: 2, Status: keeper.StatusRefreshed, Duration: time.Minute, Stop: semaphore.StopRevoked, DrainLeft: time.Second},
			{Token: 3, Status: keeper.StatusRefreshed, Duration: time.Second},
			{Token: 4, Status: keeper.StatusLost, Message: "gone"},
			{Token: 5, Status: keeper.StatusRetry},
			{Token: 6, Status: keeper.StatusStopping, Stop: semaphore.StopRevoked},
			{Token: 7, Status: keeper.StatusRefreshed, Duration: time.Second},
		}, nil
	}
	stream, _ := keepAliveOn(t, g.permits, g)
	frame := frameOf(1, 1, 2)
	frame.Grouped, frame.Groups = true, append(groupFrame(3, 4, 5).Groups, groupFrame(6, 7).Groups...)
	send(t, stream, frame)
	answer := recv(t, stream)
	var results []uint64
	for _, r := range answer.GetResults() {
		results = append(results, r.GetToken())
	}
	if !slices.Equal(results, []uint64{2, 4, 5, 6}) || answer.GetResults()[0].GetDrainLeft().AsDuration() != time.Second {
		t.Errorf("got results %v, want results for tokens 2, 4, 5 and 6", answer.GetResults())
	}
	durations := map[uint64]time.Duration{}
	for _, group := range answer.GetRefreshed() {
		for _, token := range group.GetTokens() {
			durations[token] = group.GetDuration().AsDuration()
		}
	}
	if !maps.Equal(durations, map[uint64]time.Duration{1: time.Minute, 3: time.Second, 7: time.Second}) {
		t.Errorf("grouped refreshes = %v, want tokens 1, 3 and 7", answer.GetRefreshed())
	}
}

// If the client does not set grouped, the response has one result per token.
func TestKeepAlive_NotGrouped_ReturnsResultsIndividually(t *testing.T) {
	g := open(t)
	g.keeper.refresh = refreshAll
	stream, _ := keepAliveOn(t, g.permits, g)
	frame := groupFrame(5, 6)
	frame.Grouped = false
	send(t, stream, frame)
	if r := recv(t, stream); len(r.GetResults()) != 2 || len(r.GetRefreshed()) != 0 {
		t.Errorf("response = %v, want two results and no groups", r)
	}
}

func TestKeepAlive_Frame_IsAnsweredWithItsNumber(t *testing.T) {
	g := open(t)
	g.keeper.refresh = refreshAll
	stream, listener := keepAliveOn(t, g.permits, g)
	send(t, stream, frameOf(1, 5, 6))
	r := recv(t, stream)
	if r.GetFrame() != 1 || len(r.GetResults()) != 2 || r.GetResults()[1].GetToken() != 6 || r.GetResults()[1].GetDuration().AsDuration() != time.Minute {
		t.Errorf("response to frame 1 = %v, want refreshed tokens 5 and 6", r)
	}
	send(t, stream, frameOf(2))
	if r := recv(t, stream); r.GetFrame() != 2 || len(r.GetResults()) != 0 {
		t.Errorf("response to the empty frame = %v, want frame 2 without results", r)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("Recv() after CloseSend: got %v, want io.EOF", err)
	}
	receiveFrom(t, listener.closed)
}

func TestKeepAlive_Notices_AreSentWithoutFrame(t *testing.T) {
	g := open(t)
	stream, listener := keepAliveOn(t, g.permits, g)
	listener.notices <- []keeper.TokenResult{{Token: 5, Status: keeper.StatusStopping, Stop: semaphore.StopCordoned, Message: "m"}}
	r := recv(t, stream)
	if n := r.GetNotices(); r.GetFrame() != 0 || len(r.GetResults()) != 0 || len(n) != 1 || n[0].GetToken() != 5 ||
		n[0].GetStop() != gatekeeperv1.StopCause_STOP_CAUSE_CORDONED || n[0].GetMessage() != "m" {
		t.Errorf("message = %v, want only the notice for token 5", r)
	}
}

// Eight frames are processed concurrently and answered in any order. A ninth waits until one of them has finished.
func TestKeepAlive_ManyFrames_AreProcessedInParallelUpToLimit(t *testing.T) {
	g := open(t)
	began := make(chan uint64)
	proceed := make(map[uint64]chan struct{})
	for n := range uint64(maxFrames + 1) {
		proceed[n+1] = make(chan struct{})
	}
	g.keeper.refresh = func(ctx context.Context, received time.Time, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		began <- tokens[0].Token
		<-proceed[tokens[0].Token]
		return refreshAll(ctx, received, tokens)
	}
	stream, _ := keepAliveOn(t, g.permits, g)
	for n := range uint64(maxFrames + 1) {
		send(t, stream, frameOf(n+1, n+1))
	}
	var running []uint64
	for range maxFrames {
		running = append(running, receiveFrom(t, began))
	}
	slices.Sort(running)
	if !slices.Equal(running, []uint64{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Fatalf("frames in flight = %v, want 1 to 8", running)
	}
	select {
	case n := <-began:
		t.Fatalf("frame %d started while eight others were in flight", n)
	default:
	}
	close(proceed[3])
	if r := recv(t, stream); r.GetFrame() != 3 {
		t.Errorf("got response to frame %d first, want 3", r.GetFrame())
	}
	if n := receiveFrom(t, began); n != 9 {
		t.Errorf("frame %d started next, want 9", n)
	}
	for n, ch := range proceed {
		if n != 3 {
			close(ch)
		}
	}
	for range maxFrames {
		recv(t, stream)
	}
}

// A token refreshed by one frame and forgotten by the next must end up forgotten.
func TestKeepAlive_Forget_WaitsForEarlierFrames(t *testing.T) {
	g := open(t)
	proceed, began := make(chan struct{}), make(chan struct{})
	g.keeper.refresh = func(ctx context.Context, received time.Time, tokens []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		if tokens[0].Token == 1 {
			close(began)
			<-proceed
		}
		return refreshAll(ctx, received, tokens)
	}
	stream, listener := keepAliveOn(t, g.permits, g)
	send(t, stream, frameOf(1, 1))
	receiveFrom(t, began)
	second := frameOf(2, 2)
	second.Forget = []uint64{1}
	send(t, stream, second)
	// A notice is delivered while the second frame waits. This does not prove that the server had received the second
	// frame before the first one finished, so the order of calls is checked as well.
	listener.notices <- []keeper.TokenResult{{Token: 9, Status: keeper.StatusLost}}
	recv(t, stream)
	close(proceed)
	if r := recv(t, stream); r.GetFrame() != 1 {
		t.Errorf("got response to frame %d, want 1", r.GetFrame())
	}
	if r := recv(t, stream); r.GetFrame() != 2 {
		t.Errorf("got response to frame %d, want 2", r.GetFrame())
	}
	listener.mu.Lock()
	defer listener.mu.Unlock()
	if expected := []string{"refreshed 1", "forgot 1", "refreshed 2"}; !slices.Equal(listener.log, expected) {
		t.Errorf("calls = %q, want %q", listener.log, expected)
	}
}

func TestKeepAlive_LeadershipEnds_ReportsLeader(t *testing.T) {
	g := open(t)
	stream, listener := keepAliveOn(t, g.permits, g)
	g.consensus.follow(consensus.Leader{ID: "gk2", APIAddress: "gk2:7420", Term: 2})
	close(listener.notices)
	_, err := stream.Recv()
	if info := want(t, err, codes.Unavailable, "NOT_LEADER"); info["leader_id"] != "gk2" || info["leader_api"] != "gk2:7420" || info["term"] != "2" {
		t.Errorf("stream ended with metadata %v, want leader gk2 in term 2", info)
	}
	receiveFrom(t, listener.closed)
}

func TestKeepAlive_RefreshFails_EndsStream(t *testing.T) {
	for reason, fails := range map[string]func() error{
		"NOT_CONFIRMED": func() error { return consensus.ErrNotConfirmed },
		"INTERNAL":      func() error { panic("boom") },
	} {
		g := open(t)
		g.keeper.refresh = func(context.Context, time.Time, []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
			return nil, fails()
		}
		stream, listener := keepAliveOn(t, g.permits, g)
		send(t, stream, frameOf(1, 1))
		_, err := stream.Recv()
		if got := infoOf(statusOf(err)).GetReason(); got != reason {
			t.Errorf("stream ended with %v, want %s", err, reason)
		}
		receiveFrom(t, listener.closed)
	}
}

func TestKeepAlive_ClientCancels_ClosesListener(t *testing.T) {
	g := open(t)
	began := make(chan struct{})
	ended := make(chan error, 1)
	g.keeper.refresh = func(ctx context.Context, _ time.Time, _ []keeper.TokenRefresh) ([]keeper.TokenResult, error) {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	}
	c, cancel := context.WithCancel(ctx(t))
	stream := must(g.permits.KeepAlive(c))(t)
	listener := receiveFrom(t, g.keeper.listening)
	send(t, stream, frameOf(1, 1))
	receiveFrom(t, began)
	cancel()
	receiveFrom(t, ended)
	receiveFrom(t, listener.closed)
}
