package workers

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A dead worker's task stays in the list until another worker can receive it.
func TestList_WorkerDies_TaskIsListedUntilSlotIsFree(t *testing.T) {
	t.Parallel()
	for state, c := range map[string]struct {
		def   *gatekeeperv1.Definition
		later string
	}{
		"hold": {&gatekeeperv1.Definition{OnExpiry: gatekeeperv1.OnExpiry_ON_EXPIRY_HOLD}, "lost: gkctl clear 1"},
		"cool": {&gatekeeperv1.Definition{LossDelay: durationpb.New(time.Minute)}, "lost: cooling for "},
		"free": {&gatekeeperv1.Definition{}, ""},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := gktest.Start(t)
				c.def.Name, c.def.Duration = "resize", durationpb.New(10*time.Second)
				srv.Define(t, c.def)
				ops := srv.Dial(t, "ops")
				if _, err := work.Submit(t.Context(), ops, work.Job{ID: "j", Semaphore: "resize"}, [][]byte{nil}); err != nil {
					t.Fatal(err)
				}
				shown := func() string {
					t.Helper()
					r, err := ops.Work().ListWorkers(t.Context(), &gatekeeperv1.ListWorkersRequest{Semaphore: "resize"})
					if err != nil {
						t.Fatal(err)
					}
					var lines []string
					for _, row := range listing(append(r.GetWorkers(), r.GetAway()...)).Rows {
						lines = append(lines, strings.Join(row.Cells[2:7], " | "))
					}
					return strings.Join(lines, "\n")
				}
				// The worker uses the API directly, so its permit is not refreshed.
				ctx, die := context.WithCancel(t.Context())
				defer die()
				stream, err := srv.Dial(t, "w").Work().Work(ctx)
				if err != nil {
					t.Fatal(err)
				}
				offer := &gatekeeperv1.WorkOffer{Semaphore: "resize", Identity: &gatekeeperv1.Identity{Group: "default", Acquirer: "w", HolderId: "a/b"}, Slots: 1}
				if err := stream.Send(&gatekeeperv1.WorkRequest{Frame: 1, Kind: &gatekeeperv1.WorkRequest_Offer{Offer: offer}}); err != nil {
					t.Fatal(err)
				}
				if _, err := stream.Recv(); err != nil {
					t.Fatal(err)
				}
				if got, want := shown(), "w | working | 0 | j | 0"; got != want {
					t.Errorf("while the worker is running: got %q, want %q", got, want)
				}
				die()
				synctest.Wait()
				if got := shown(); !strings.HasPrefix(got, "w | away: held for ") || !strings.HasSuffix(got, "s | 0 | j | 0") {
					t.Errorf("after the worker's stream ended: got %q, want an away worker that holds the task", got)
				}
				srv.Advance(t, 30*time.Second)
				synctest.Wait()
				if got := shown(); (got == "") != (c.later == "") || !strings.HasPrefix(got, "w | "+c.later) && c.later != "" {
					t.Errorf("after its permit expired: got %q, want %q", got, c.later)
				}
			})
		})
	}
}
