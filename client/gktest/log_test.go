package gktest

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestLogTo_AfterTheTest_DiscardsText(t *testing.T) {
	var out bytes.Buffer
	o := &output{to: &out}
	log := slog.New(slog.NewTextHandler(o, nil))
	log.Info("during")
	o.stop()
	log.Info("after")
	if !strings.Contains(out.String(), "during") || strings.Contains(out.String(), "after") {
		t.Errorf("logged %q, want only the message logged during the test", out.String())
	}
}
