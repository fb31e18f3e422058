package firings

import (
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Scripts compare due times with forgotten_up_to, which is the leader's time after `firings forget --ahead`.
func TestFiringsJSON_ForgottenUpTo_KeepsFractionalSeconds(t *testing.T) {
	t.Parallel()
	mark := time.Date(2026, 6, 1, 2, 0, 0, 734_000_000, time.UTC)
	got, err := json.Marshal(newFiringsJSON(nil, &gatekeeperv1.ListFiringsResponse{Count: 1, Limit: 5, ForgottenUpTo: timestamppb.New(mark)}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"items":[],"forgotten_up_to":"2026-06-01T02:00:00.734Z","count":1,"limit":5}`; string(got) != want {
		t.Errorf("newFiringsJSON() as JSON = %s, want %s", got, want)
	}
}
