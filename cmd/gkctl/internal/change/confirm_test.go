package change

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func newTestProposal() *Proposal {
	return &Proposal{
		What: "this replaces job", Question: "Continue?", Declined: "nothing was changed",
		Effects: []*gatekeeperv1.Effect{{
			Semaphore: "job", Before: &gatekeeperv1.Definition{Name: "job"}, After: &gatekeeperv1.Definition{Name: "job", Permits: new(uint32)},
			Warnings: []string{"Beware."},
		}},
		Confirm: []*gatekeeperv1.Confirmation{{
			Kind: gatekeeperv1.ConfirmationKind_CONFIRMATION_KIND_NO_PERMITS, Text: "permits becomes 0, so no caller will be admitted: job",
		}},
	}
}

func TestConfirm_WithoutTerminal_ShowsSameText(t *testing.T) {
	t.Parallel()
	const about = "this replaces job; permits becomes 0, so no caller will be admitted: job"
	asked := func(answer string, terminal bool, flag YesFlag) (string, error) {
		var out bytes.Buffer
		a := &ui.IO{In: strings.NewReader(answer), Err: &out, InTTY: terminal, ErrTTY: terminal}
		_, err := Confirm(context.Background(), a, newTestProposal(), flag)
		return out.String(), err
	}
	script, refused := asked("", false, YesFlag{})
	if code, _ := ui.Classify(nil, refused); code != ui.ExitUsage || refused.Error() != about+"; pass --yes to confirm" ||
		!strings.Contains(script, "permits: 1 -> 0") || !strings.Contains(script, "warning: job: Beware.") {
		t.Errorf("Confirm() without a terminal: exit code %d, error %v; output:\n%s", code, refused, script)
	}
	for answer, wantConfirmed := range map[string]bool{"y\n": true, "yes\n": true, "n\n": false, "\n": false, "": false} {
		interactive, err := asked(answer, true, YesFlag{})
		if interactive != script+about+"\nContinue? [y/N] " {
			t.Errorf("Confirm() with the answer %q printed:\n%s\nwithout a terminal:\n%s", answer, interactive, script)
		}
		if _, unconfirmed := errors.AsType[*ui.UnconfirmedError](err); (err == nil) != wantConfirmed || unconfirmed == wantConfirmed {
			t.Errorf("Confirm() with the answer %q = %v, want confirmed = %v", answer, err, wantConfirmed)
		}
	}
	for _, terminal := range []bool{true, false} {
		if out, err := asked("n\n", terminal, YesFlag{Yes: true}); err != nil || out != "" {
			t.Errorf("Confirm() with --yes and terminal = %v: error %v and output %q, want no error and no output", terminal, err, out)
		}
	}
}

func TestConfirm_WithoutReason_AsksOnlyIfAlwaysIsSet(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := newTestProposal()
	p.Confirm = nil
	a := &ui.IO{Err: &out}
	if asked, err := Confirm(context.Background(), a, p, YesFlag{}); asked || err != nil || out.Len() > 0 {
		t.Errorf("Confirm() = %v, %v, want false, nil\n%s", asked, err, &out)
	}
	p.Always = true
	if _, err := Confirm(context.Background(), a, p, YesFlag{}); err == nil || err.Error() != "this replaces job; no holder has to stop; pass --yes to confirm" {
		t.Errorf("Confirm() with Always: got %v, want a request for confirmation", err)
	}
}
