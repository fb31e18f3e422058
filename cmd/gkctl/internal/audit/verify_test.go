package audit

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
)

// Anyone who can write to the log can put arbitrary text into it, with a valid checksum.
func TestPrint_ControlCharactersInLog_AreNotPrinted(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b[2J\nlines 1 to 9"
	finding := audit.Finding{Kind: audit.Torn, File: "a\x1b", Line: 1, Text: hostile}
	var out bytes.Buffer
	o := &verifyOptions{f: &conn.Factory{IO: &ui.IO{Out: &out}}}
	o.print(&audit.Report{Lines: 1, First: 1, Last: 1, From: hostile, To: hostile, Breaks: []audit.Finding{finding}, Notes: []audit.Finding{finding}})
	if strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("print wrote %q, want 4 lines without control characters", &out)
	}
}
