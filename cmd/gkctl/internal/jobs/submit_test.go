package jobs

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/gktest"
	"github.com/gatekeeperd/gatekeeper/client/work"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// A job may be stored although no answer came. Only its id finds it.
func TestSubmit_OutcomeIsUnknown_SaysTheID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := gktest.Start(t)
		srv.Define(t, &gatekeeperv1.Definition{Name: "resize"})
		out := new(bytes.Buffer)
		f := &conn.Factory{IO: &ui.IO{Out: out, Err: out}}
		f.Dial = func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
			c := srv.Dial(t, "ops", opts...)
			must(c.Work().ListJobs(ctx, new(gatekeeperv1.ListJobsRequest)))(t) // it is connected
			srv.SlowDown(t, time.Hour, c)
			return c, nil
		}
		cmd := newSubmit(f)
		f.Global.Register(&cobra.Command{})
		cmd.SetArgs([]string{"resize", "a.jpg"})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		err := cmd.ExecuteContext(t.Context())
		code, hint := ui.Classify(cmd, err)
		m := regexp.MustCompile("^Repeat it with `--id ([A-Z0-9]+)`: ").FindStringSubmatch(hint)
		if !errors.Is(err, client.ErrOutcomeUnknown) || code != ui.ExitUnreachable || m == nil {
			t.Fatalf("%v, %d, %q", err, code, hint)
		}
		if j := must(work.Get(t.Context(), srv.Dial(t, "later"), m[1]))(t); j.GetTasks() != 1 {
			t.Error(j)
		}
	})
}
