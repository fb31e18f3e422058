package dump

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// state returns a new cluster's state after the given commands, each in a separate entry.
func state(t *testing.T, cmds ...fsm.Command) *fsm.State {
	t.Helper()
	m := fsm.New("0000000000000001.1")
	for i, cmd := range cmds {
		entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Apply(uint64(i+1), 3, entry); err != nil {
			t.Fatal(err)
		}
	}
	return m.State()
}

func create(names ...string) fsm.EditBatch {
	edit := fsm.EditBatch{Author: "ann", At: time.Unix(1, 0)}
	for _, name := range names {
		edit.Changes = append(edit.Changes, fsm.Change{Kind: fsm.Create, Name: name, Definition: &semaphore.Definition{
			Name: name, GroupPattern: "prod", AcquirerPattern: ".*", Permits: 2, Duration: time.Minute, OnExpiry: semaphore.OnExpiryFree,
			FiringOnLoss: semaphore.FiringSpent, FiringRetention: time.Hour, FiringLimit: 10,
		}})
	}
	return edit
}

func grant(sem, acquirer string) fsm.Grant {
	return fsm.Grant{
		Semaphore: sem, Identity: semaphore.Identity{Group: "prod", Acquirer: acquirer, HolderID: "h"}, Weight: 1, DefinitionVersion: 1, At: time.Unix(2, 0),
	}
}

func dumpLines(v View, limit int) []string {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, nil))
	write(context.Background(), log, v, limit)
	text := regexp.MustCompile(`(?m)^time=\S+ level=INFO `).ReplaceAllString(b.String(), "")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func TestWrite_Leader_WritesSemaphoresInUse(t *testing.T) {
	s := state(t,
		create("idle", "job", "paused", "gone", "queued"), grant("job", "app2"), grant("job", "app1"), grant("gone", "app1"),
		fsm.Pause{Names: []string{"paused"}, Reason: "upgrade", Author: "ann", At: time.Unix(3, 0)},
		fsm.EditBatch{Author: "ann", At: time.Unix(4, 0), Changes: []fsm.Change{{Kind: fsm.Delete, Name: "gone", ExpectedVersion: 1}}},
	)
	job := make(map[string]uint64)
	for p := range s.Permits(0) {
		job[p.Semaphore+"/"+p.Identity.Acquirer] = p.Token
	}
	got := dumpLines(View{
		State: s, Role: "leader", Leader: "gk1", Term: 3, Waiting: map[string]int{"queued": 2},
		Remaining: func(token uint64) (time.Duration, bool) {
			return 59*time.Second + 400*time.Microsecond, token == job["job/app2"]
		},
	}, MaxLines)
	want := []string{
		`msg=state revision=6 index=6 definitions=4 permits=3 waiters=2 role=leader leader=gk1 term=3`,
		`msg="state of semaphore" semaphore=gone used=1 waiters=0 deleted=true`,
		`msg="state of permit" semaphore=gone group=prod acquirer=app1 holder=h weight=1 token=3 state=live granted_at=T`,
		`msg="state of semaphore" semaphore=job used=2 waiters=0 group_pattern=prod acquirer_pattern=.* permits=2 duration=1m0s version=1 paused=false`,
		`msg="state of permit" semaphore=job group=prod acquirer=app2 holder=h weight=1 token=1 state=live granted_at=T expires_in=59s`,
		`msg="state of permit" semaphore=job group=prod acquirer=app1 holder=h weight=1 token=2 state=live granted_at=T`,
		`msg="state of semaphore" semaphore=paused used=0 waiters=0 group_pattern=prod acquirer_pattern=.* permits=2 duration=1m0s version=1 paused=true pause_reason=upgrade`,
		`msg="state of semaphore" semaphore=queued used=0 waiters=2 group_pattern=prod acquirer_pattern=.* permits=2 duration=1m0s version=1 paused=false`,
	}
	for i := range got {
		got[i] = regexp.MustCompile(`granted_at=\S+`).ReplaceAllString(got[i], "granted_at=T")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Write(): lines differ (-want +got):\n%s", diff)
	}
}

func TestWrite_SemaphoreWithJobs_IsInUse(t *testing.T) {
	s := state(t, create("idle", "job"), fsm.RaiseFeatureLevel{Level: fsm.SupportedLevel}, fsm.SubmitJob{
		Spec: &work.Spec{ID: "j", Semaphore: "job"}, Tasks: [][]byte{nil, nil}, Digest: strings.Repeat("d", 32), At: time.Unix(2, 0),
	})
	got := dumpLines(View{State: s, Role: "follower", Remaining: func(uint64) (time.Duration, bool) { return 0, false }}, 10)
	if len(got) != 2 || !strings.Contains(got[1], "semaphore=job used=0 waiters=0 jobs=1 tasks_waiting=2 tasks_held=0") {
		t.Fatalf("Write() = %q, want a line for the semaphore with the job", got)
	}
}

func TestWrite_TooManyLines_ReportsOmittedCount(t *testing.T) {
	s := state(t, create("a", "b"), grant("a", "1"), grant("a", "2"), grant("b", "1"), grant("b", "2"))
	unknown := func(uint64) (time.Duration, bool) { return 0, false }
	whole := dumpLines(View{State: s, Remaining: unknown}, MaxLines)
	if len(whole) != 7 {
		t.Fatalf("the whole dump has %d lines, want 7:\n%s", len(whole), strings.Join(whole, "\n"))
	}
	for limit := 1; limit < len(whole); limit++ {
		got := dumpLines(View{State: s, Remaining: unknown}, limit)
		if diff := cmp.Diff(whole[:limit], got[:limit]); diff != "" {
			t.Errorf("limit %d: (-want +got):\n%s", limit, diff)
		}
		want := fmt.Sprintf("msg=%q lines=%d limit=%d", MsgOmitted, len(whole)-limit, limit)
		if last := got[len(got)-1]; last != want || len(got) != limit+1 {
			t.Errorf("limit %d: got %d lines ending with %q, want %q", limit, len(got), last, want)
		}
	}
	if exact := dumpLines(View{State: s, Remaining: unknown}, len(whole)); len(exact) != len(whole) {
		t.Errorf("limit %d: got %d lines, want %d", len(whole), len(exact), len(whole))
	}
}
