package cluster

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func TestCertificateText_SaysWhatNeedsAction(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 2, 0, 0, 0, time.UTC)
	for says, c := range map[string]*gatekeeperv1.Certificate{
		"":                    {NotAfter: timestamppb.New(now.Add(certificateSoon))},
		"CN=gk1 ends in 29d,": {Subject: "CN=gk1", NotAfter: timestamppb.New(now.Add(certificateSoon - time.Second))},
		"CN=gk1 ended at ":    {Subject: "CN=gk1", NotAfter: timestamppb.New(now)},
		"no such file":        {Error: "open gk1.pem: no such file"},
	} {
		if got := certificateText(c, now); !strings.Contains(got, says) || (got == "") != (says == "") {
			t.Errorf("%q, want %q", got, says)
		}
	}
}
