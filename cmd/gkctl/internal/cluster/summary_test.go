package cluster

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/internal/authority"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestCertificateText_DescribesProblems(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 2, 0, 0, 0, time.UTC)
	for want, c := range map[string]*gatekeeperv1.Certificate{
		"":                       {NotAfter: timestamppb.New(now.Add(authority.ExpiryWarning))},
		"CN=gk1 expires in 29d,": {Subject: "CN=gk1", NotAfter: timestamppb.New(now.Add(authority.ExpiryWarning - time.Second))},
		"CN=gk1 expired at ":     {Subject: "CN=gk1", NotAfter: timestamppb.New(now)},
		"no such file":           {Error: "open gk1.pem: no such file"},
	} {
		if got := certificateText(c, now); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("certificateText() = %q, want it to contain %q", got, want)
		}
	}
}

// A restarted server applies nothing until a leader is elected, so its zero counts do not describe the cluster.
func TestStatus_NoLeaderAndNothingApplied_ShowsUnknown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status *gatekeeperv1.GetStatusResponse
		want   string
	}{
		{&gatekeeperv1.GetStatusResponse{}, "permits: unknown"},
		{&gatekeeperv1.GetStatusResponse{Revision: 7}, "permits: 0"},
		{&gatekeeperv1.GetStatusResponse{LeaderId: "gk1"}, "permits: 0"},
	} {
		out := new(bytes.Buffer)
		o := &statusOptions{f: &conn.Factory{IO: &ui.IO{Out: out, Err: out}}}
		if err := o.printLines(test.status, nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, test.want) {
			t.Errorf("status = %q, want it to contain %q", got, test.want)
		}
	}
}
