package ui

import (
	"bytes"
	"testing"
)

func TestToYAML_QuotesOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	out, err := toYAML([]byte(`{"items":[{"token":"12","name":"a b","on":true,"n":3,"none":[]}]}`))
	const want = "items:\n  - token: \"12\"\n    name: a b\n    on: true\n    n: 3\n    none: []\n"
	if err != nil || string(out) != want {
		t.Errorf("toYAML() = %v\n%s\nwant\n%s", err, out, want)
	}
}

func TestProgress_PrintsToTerminalsOnly(t *testing.T) {
	t.Parallel()
	for _, tty := range []bool{true, false} {
		var b bytes.Buffer
		a := &IO{Err: &b, ErrTTY: tty}
		a.Progress("sending %d changes", 1000)()
		if (b.Len() > 0) != tty {
			t.Errorf("Progress() with ErrTTY = %v wrote %q, want output only on a terminal", tty, &b)
		}
	}
}
