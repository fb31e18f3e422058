package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/client"
)

// writes calls f with what is written.
type writes func(string)

func (f writes) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

func TestWatch_FromARevisionAhead_SaysWhatItWaitsFor(t *testing.T) {
	w := newMoveWorld(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), awaitFor)
	defer cancel()
	var said string
	var out bytes.Buffer
	a := &app{
		in: &bytes.Buffer{}, out: &out, err: writes(func(s string) { said += s; cancel() }),
		dial: func(ctx context.Context, _ []string, opts ...client.Option) (*client.Client, error) {
			return client.Dial(ctx, w.endpoints, opts...)
		},
	}
	if code := run(ctx, a, []string{"watch", "--from", "1000000"}); code != exitOK && code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(said, "revision 1000000 lies ahead, the cluster is at ") || out.Len() > 0 {
		t.Errorf("%q %q", said, &out)
	}
}
