package api

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// BenchmarkFrame is what the API itself does for a frame of 100 tokens: it reads the request, and writes the answer.
func BenchmarkFrame(b *testing.B) {
	answer := make([]keeper.TokenResult, 100)
	request := &gatekeeperv1.KeepAliveRequest{Frame: 1}
	for i := range answer {
		answer[i] = keeper.TokenResult{Token: uint64(i) + 1<<40, Status: keeper.StatusRefreshed, Duration: 30 * time.Second}
		request.Tokens = append(request.Tokens, &gatekeeperv1.TokenRefresh{Token: answer[i].Token, Duration: toResults(answer[i : i+1])[0].Duration})
	}
	sent, err := proto.Marshal(request)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var got gatekeeperv1.KeepAliveRequest
		if err := proto.Unmarshal(sent, &got); err != nil {
			b.Fatal(err)
		}
		if _, err := tokensFrom("tokens", got.GetTokens()); err != nil {
			b.Fatal(err)
		}
		results := toResults(answer)
		if _, err := proto.Marshal(&gatekeeperv1.KeepAliveResponse{Frame: 1, Results: results}); err != nil {
			b.Fatal(err)
		}
	}
}
