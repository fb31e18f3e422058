package gateway

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestRelay_WithoutEvents_SendsCommentsOnceItHasBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		watch := &streamRoutes()[0]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		answer, all := httptest.NewRecorder(), make(chan received)
		done := make(chan struct{})
		go func() {
			defer close(done)
			watch.relay(ctx, newWriter(answer), nil, all)
		}()
		time.Sleep(10 * heartbeat) //nolint:forbidigo // of virtual time
		synctest.Wait()
		if answer.Body.Len() > 0 {
			t.Errorf("before the first message, which may be an error: %q", answer.Body)
		}
		all <- received{message: &gatekeeperv1.WatchResponse{Revision: 7}}
		synctest.Wait()
		first := answer.Body.String()
		time.Sleep(10 * heartbeat) //nolint:forbidigo // of virtual time
		synctest.Wait()
		cancel()
		<-done
		want := "retry: 1000\n\nid: 7\nevent: message\ndata: {\"revision\":\"7\"}\n\n"
		if rest, ok := strings.CutPrefix(answer.Body.String(), want); first != want || !ok || rest != strings.Repeat(":\n\n", 10) {
			t.Errorf("%q, then %q", first, answer.Body)
		}
	})
}
