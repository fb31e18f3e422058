package fsm_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// Every command that Encode accepts must decode unchanged and re-encode to the same bytes.
func TestCodec_AnyCommand_RoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cmds := rapid.SliceOfN(anyCommand(), 0, 5).Draw(t, "commands")
		entry, err := fsm.Encode(fsm.SupportedLevel, cmds)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fsm.Decode(entry)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "commands", got, cmds)
		reencoded, err := fsm.Encode(fsm.SupportedLevel, got)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(entry, reencoded) {
			t.Fatal("re-encoding changed the bytes")
		}
	})
}

func anyText() *rapid.Generator[string] { return rapid.StringN(0, 8, 32) }

func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "absent") {
			return time.Time{}
		}
		n := rapid.Int64().Draw(t, "nanoseconds")
		if n == 0 {
			n = 1 // 0 means that the time is absent
		}
		return time.Unix(0, n).UTC()
	})
}

func anyDuration() *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) })
}

func anyLabels() *rapid.Generator[map[string]string] { return rapid.MapOfN(anyText(), anyText(), 0, 4) }

func anyIdentity() *rapid.Generator[semaphore.Identity] {
	return rapid.Custom(func(t *rapid.T) semaphore.Identity {
		return semaphore.Identity{Group: anyText().Draw(t, "group"), Acquirer: anyText().Draw(t, "acquirer"), HolderID: anyText().Draw(t, "holder"), Principal: anyText().Draw(t, "principal")}
	})
}

func anyFiring() *rapid.Generator[*semaphore.Firing] {
	return rapid.Custom(func(t *rapid.T) *semaphore.Firing {
		switch rapid.IntRange(0, 2).Draw(t, "firing") {
		case 0:
			return nil
		case 1:
			return &semaphore.Firing{Name: anyText().Draw(t, "name")}
		}
		// Due times have explicit presence, so the Unix epoch is a valid due time.
		return &semaphore.Firing{Name: anyText().Draw(t, "name"), Due: time.Unix(0, rapid.Int64().Draw(t, "due")).UTC()}
	})
}

func anyDefinition() *rapid.Generator[*semaphore.Definition] {
	return rapid.Custom(func(t *rapid.T) *semaphore.Definition {
		d := func(what string) time.Duration { return anyDuration().Draw(t, what) }
		return &semaphore.Definition{
			Name: anyText().Draw(t, "name"), Description: anyText().Draw(t, "description"), Labels: semaphore.LabelsOf(anyLabels().Draw(t, "labels")),
			GroupPattern: anyText().Draw(t, "group"), AcquirerPattern: anyText().Draw(t, "acquirer"), Permits: rapid.Uint32().Draw(t, "permits"),
			Duration: d("duration"), MaxHold: d("max hold"), MinHold: d("min hold"), LossDelay: d("loss delay"),
			OnExpiry: semaphore.OnExpiry(rapid.Byte().Draw(t, "on expiry")), FiringOnLoss: semaphore.FiringOnLoss(rapid.Byte().Draw(t, "on loss")),
			Takeover: rapid.Bool().Draw(t, "takeover"), ExpectEvery: d("expect"), FiringRetention: d("retention"),
			FiringLimit: rapid.Uint32().Draw(t, "limit"), FiringMaxAhead: d("max ahead"),
			MaxAttempts: rapid.Uint32().Draw(t, "max attempts"), Misfire: semaphore.Misfire(rapid.Byte().Draw(t, "misfire")), MisfireWindow: d("misfire window"),
		}
	})
}

func anySpec() *rapid.Generator[*work.Spec] {
	return rapid.Custom(func(t *rapid.T) *work.Spec {
		text := func(what string) string { return anyText().Draw(t, what) }
		return &work.Spec{
			ID: text("id"), Semaphore: text("semaphore"), Labels: semaphore.LabelsOf(anyLabels().Draw(t, "labels")), Author: text("author"),
			Timeout: anyDuration().Draw(t, "timeout"), Retention: anyDuration().Draw(t, "retention"), Priority: rapid.Int32().Draw(t, "priority"),
			MaxAttempts: rapid.Uint32().Draw(t, "attempts"), MaxResult: rapid.Uint32().Draw(t, "max result"),
			RetryFailed: rapid.Bool().Draw(t, "retry failed"), Own: text("own"),
		}
	})
}

func anyTasks() *rapid.Generator[[][]byte] {
	return rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 9), 0, 3)
}

func anyCommand() *rapid.Generator[fsm.Command] {
	return rapid.Custom(func(t *rapid.T) fsm.Command {
		text := func(what string) string { return anyText().Draw(t, what) }
		number := func(what string) uint64 { return rapid.Uint64().Draw(t, what) }
		names := func() []string { return rapid.SliceOfN(anyText(), 0, 3).Draw(t, "names") }
		instant := func(what string) time.Time { return anyTime().Draw(t, what) }
		expected := func() (out []fsm.Expected) {
			for range rapid.IntRange(0, 3).Draw(t, "expected") {
				out = append(out, fsm.Expected{Version: number("version"), Pause: number("pause")})
			}
			return out
		}
		switch rapid.IntRange(0, 33).Draw(t, "command") {
		case 0:
			g := fsm.Grant{
				Semaphore: text("semaphore"), Identity: anyIdentity().Draw(t, "identity"), Weight: rapid.Uint32().Draw(t, "weight"),
				Firing: anyFiring().Draw(t, "firing"), RequestID: text("request"), Metadata: anyLabels().Draw(t, "metadata"),
				DefinitionVersion: number("version"), CordonRevision: number("cordons"), At: instant("at"), RequestRevision: number("request revision"),
				Worker: rapid.Bool().Draw(t, "worker"),
			}
			if rapid.Bool().Draw(t, "expects") {
				n := number("expected")
				g.ExpectedRevision = &n
			}
			return g
		case 1:
			return fsm.Extend{Token: number("token"), Duration: anyDuration().Draw(t, "duration"), Term: number("term")}
		case 2:
			r := fsm.Release{Token: number("token"), Job: rapid.SampledFrom(jobEnds()).Draw(t, "job"), Cooling: anyDuration().Draw(t, "cooling"), At: instant("at")}
			if r.Job != semaphore.JobDone {
				r.Failure = text("failure")
			}
			r.Result = rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "result")
			return r
		case 3:
			return fsm.Expire{Token: number("token"), Term: number("term"), Cooling: anyDuration().Draw(t, "cooling"), At: instant("at")}
		case 4:
			return fsm.Abandon{Token: number("token"), Term: number("term")}
		case 5:
			return fsm.EndCooling{Token: number("token"), Term: number("term")}
		case 6:
			return fsm.Clear{Token: number("token"), Author: text("author"), Reason: text("reason"), At: instant("at")}
		case 7:
			return fsm.Revoke{
				Token: number("token"), Author: text("author"), Reason: text("reason"), At: instant("at"),
				Drain: anyDuration().Draw(t, "drain"), UnsafeNow: rapid.Bool().Draw(t, "unsafe"),
			}
		case 8:
			return fsm.Cancel{Semaphore: text("semaphore"), Identity: anyIdentity().Draw(t, "identity"), RequestID: text("request")}
		case 9:
			b := fsm.EditBatch{Author: text("author"), Reason: text("reason"), RequestID: text("request"), At: instant("at")}
			b.Drain, b.Until = anyDuration().Draw(t, "drain"), instant("until")
			b.RequestHash, b.RequestRevision = number("request hash"), number("request revision")
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				c := fsm.Change{
					Kind: rapid.SampledFrom([]fsm.ChangeKind{fsm.Create, fsm.Replace, fsm.Delete, fsm.Declare}).Draw(t, "kind"),
					Name: text("name"), ExpectedVersion: number("version"),
				}
				if c.Kind != fsm.Delete {
					c.Definition = anyDefinition().Draw(t, "definition")
				}
				b.Changes = append(b.Changes, c)
			}
			return b
		case 10:
			return fsm.SetCordon{
				ID: text("id"), GroupPattern: text("group"), AcquirerPattern: text("acquirer"), Until: instant("until"),
				Author: text("author"), Reason: text("reason"), At: instant("at"), Drain: anyDuration().Draw(t, "drain"),
				RequestID: text("request"), RequestHash: number("request hash"), RequestRevision: number("request revision"),
			}
		case 11:
			return fsm.Uncordon{
				ID: text("id"), Term: number("term"), Revision: number("revision"), Author: text("author"), Reason: text("reason"), At: instant("at"),
				RequestID: text("request"), RequestHash: number("request hash"), RequestRevision: number("request revision"),
			}
		case 12:
			return fsm.Pause{
				Names: names(), Reason: text("reason"), Author: text("author"), Until: instant("until"), Stop: rapid.Bool().Draw(t, "stop"),
				At: instant("at"), Drain: anyDuration().Draw(t, "drain"),
				RequestID: text("request"), RequestHash: number("request hash"), RequestRevision: number("request revision"), Expected: expected(),
			}
		case 13:
			return fsm.Resume{
				Names: names(), Term: number("term"), Revision: number("revision"), Author: text("author"), Reason: text("reason"), At: instant("at"),
				RequestID: text("request"), RequestHash: number("request hash"), RequestRevision: number("request revision"), Expected: expected(),
			}
		case 14:
			c := fsm.Forget{Semaphore: text("semaphore"), Term: number("term"), UpTo: instant("up to"), Names: names()}
			if f := anyFiring().Draw(t, "firing"); f != nil {
				c.Firings = []semaphore.Firing{*f}
			}
			return c
		case 15:
			n := func(what string) uint32 { return rapid.Uint32().Draw(t, what) }
			return fsm.Configure{Settings: fsm.Settings{
				MaxDuration: anyDuration().Draw(t, "max"), JournalPerSemaphore: n("per semaphore"), JournalTotal: n("total"),
				RememberedRequests: n("requests"), RememberedDeletions: n("deletions"),
				Requests: fsm.RequestBounds{
					Lifetime: anyDuration().Draw(t, "lifetime"), Kept: n("kept"), RequestBytes: number("request bytes"), EditBytes: number("edit bytes"),
				},
				Work: work.Limits{
					TaskBytes: number("task bytes"), JobBytes: number("job bytes"), SemaphoreBytes: number("semaphore bytes"), ClusterBytes: number("cluster bytes"),
				},
			}, Author: text("author"), Reason: text("reason"), At: instant("at")}
		case 16:
			return fsm.RetireMember{ID: text("id")}
		case 17:
			return fsm.EndDrain{
				Change: number("change"), Term: number("term"), Names: names(), Cordon: text("cordon"), Token: number("token"), At: instant("at"),
			}
		case 18:
			return fsm.Revert{Change: number("change"), Term: number("term"), Names: names(), At: instant("at")}
		case 19:
			c := fsm.Sight{Term: number("term")}
			for range rapid.IntRange(0, 3).Draw(t, "sightings") {
				c.Sightings = append(c.Sightings, fsm.Sighting{Group: text("group"), Acquirer: text("acquirer"), At: instant("at")})
			}
			return c
		case 20:
			return fsm.NoteMissed{
				Semaphore: text("semaphore"), Term: number("term"), Missed: fsm.Missed(rapid.Byte().Draw(t, "missed") % (byte(fsm.HeldTooLong) + 1)),
				Text: text("text"), At: instant("at"),
			}
		case 25:
			return fsm.SubmitJob{
				Spec: anySpec().Draw(t, "spec"), Submitter: number("submitter"), Tasks: anyTasks().Draw(t, "tasks"), Digest: text("digest"), At: instant("at"),
			}
		case 26:
			return fsm.SubmitTasks{
				Job: number("job"), Offset: rapid.Uint32().Draw(t, "offset"), Tasks: anyTasks().Draw(t, "tasks"), Digest: text("digest"), At: instant("at"),
			}
		case 27:
			return fsm.CancelJob{
				Job: number("job"), Term: number("term"), Cause: work.CancelCause(rapid.IntRange(1, 3).Draw(t, "cause")), Author: text("author"),
				Reason: text("reason"), At: instant("at"),
			}
		case 28:
			return fsm.ChangeTasks{
				Job: number("job"), Indexes: rapid.SliceOfN(rapid.Uint32(), 0, 3).Draw(t, "indexes"), Drop: rapid.Bool().Draw(t, "drop"), AsOf: number("as of"),
				At: instant("at"),
			}
		case 29:
			return fsm.DeleteJob{Job: number("job"), Term: number("term"), At: instant("at")}
		case 24:
			return fsm.TakeOver{Token: number("token"), By: anyIdentity().Draw(t, "by"), Reason: text("reason"), At: instant("at")}
		case 30:
			return fsm.SetBinding{
				Name: text("name"), Binding: anyBinding().Draw(t, "binding"), Expected: number("expected"), First: rapid.Bool().Draw(t, "first"),
				Author: text("author"), Reason: text("reason"), At: instant("at"),
			}
		case 31:
			return fsm.IssueToken{Binding: text("binding"), Token: anyToken().Draw(t, "token"), Reason: text("reason")}
		case 32:
			return fsm.RevokeToken{ID: text("id"), Author: text("author"), Reason: text("reason"), At: instant("at")}
		case 21:
			return fsm.EndQuarantine{Term: number("term"), At: instant("at")}
		case 22:
			return fsm.Trim{Term: number("term"), UpTo: number("up to"), Names: names()}
		case 23:
			c := fsm.ForgetFirings{
				Semaphore: text("semaphore"), LowerTo: instant("lower to"), Author: text("author"), Reason: text("reason"), RequestID: text("request"),
				At: instant("at"), RequestHash: number("request hash"), RequestRevision: number("request revision"),
			}
			if f := anyFiring().Draw(t, "firing"); f != nil {
				c.Firings = []fsm.ExpectedClaim{{Firing: *f, Token: number("token")}}
			}
			return c
		}
		return fsm.RaiseFeatureLevel{Level: rapid.Uint32Range(0, fsm.SupportedLevel).Draw(t, "level")}
	})
}

func TestEncode_InvalidCommand_IsRefused(t *testing.T) {
	farFuture := time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, cmd := range map[string]fsm.Command{
		"time out of range":      fsm.Release{Token: 1, At: farFuture},
		"due time out of range":  fsm.Grant{Firing: &semaphore.Firing{Name: "f", Due: farFuture}},
		"not UTF-8":              fsm.RetireMember{ID: "\xff"},
		"pointer":                &fsm.Extend{},
		"job without a spec":     fsm.SubmitJob{Tasks: tasks("a")},
		"cancel without a cause": fsm.CancelJob{Job: 1},
		"unknown cancel cause":   fsm.CancelJob{Job: 1, Cause: work.CancelSubmitterGone + 1},
		"nil":                    nil,
	} {
		if _, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd}); err == nil {
			t.Errorf("%s: Encode() succeeded, want an error", name)
		}
	}
	for _, level := range []uint32{0, fsm.SupportedLevel + 1} {
		if _, err := fsm.Encode(level, nil); err == nil {
			t.Errorf("level %d: Encode() succeeded, want an error", level)
		}
	}
}

func TestDecode_InvalidEntry_IsRefused(t *testing.T) {
	entry := func(level uint32, cmds ...*logv1.Command) []byte {
		b, err := proto.Marshal(&logv1.Entry{FeatureLevel: level, Commands: cmds})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	edit := func(c *logv1.Change) []byte {
		return entry(1, &logv1.Command{Kind: &logv1.Command_EditBatch{EditBatch: &logv1.EditBatch{Changes: []*logv1.Change{c}}}})
	}
	newer := &logv1.Command{}
	newer.ProtoReflect().SetUnknown([]byte{0xca, 0x3e, 0x00}) // field 1001, of length 0
	for _, tc := range []struct {
		name  string
		entry []byte
		err   error
	}{
		{"empty entry", nil, fsm.ErrMalformed},
		{"garbage", []byte("GET / HTTP/1.1\r\n\r\n"), fsm.ErrMalformed},
		{"no feature level", entry(0), fsm.ErrMalformed},
		{"job that failed and was cut short", entry(4, &logv1.Command{Kind: &logv1.Command_Release{Release: &logv1.Release{Failed: true, CutShort: true}}}), fsm.ErrMalformed},
		{"failure of a job that did not fail", entry(4, &logv1.Command{Kind: &logv1.Command_Release{Release: &logv1.Release{Failure: "no"}}}), fsm.ErrMalformed},
		{"job that did not run and was cut short", entry(2, &logv1.Command{Kind: &logv1.Command_Release{Release: &logv1.Release{NotRun: true, CutShort: true}}}), fsm.ErrMalformed},
		{"newer feature level", entry(fsm.SupportedLevel + 1), fsm.ErrUnknownCommand},
		{"newer command", entry(1, newer), fsm.ErrUnknownCommand},
		{"empty command", entry(1, &logv1.Command{}), fsm.ErrUnknownCommand},
		{
			"raise above the supported level",
			entry(1, &logv1.Command{Kind: &logv1.Command_RaiseFeatureLevel{RaiseFeatureLevel: &logv1.RaiseFeatureLevel{Level: fsm.SupportedLevel + 1}}}),
			fsm.ErrUnknownCommand,
		},
		{"change of kind 0", edit(&logv1.Change{Definition: &logv1.Definition{}}), fsm.ErrMalformed},
		{"change of kind 257", edit(&logv1.Change{Kind: 257, Definition: &logv1.Definition{}}), fsm.ErrMalformed},
		{"create without a definition", edit(&logv1.Change{Kind: 1}), fsm.ErrMalformed},
		{"delete with a definition", edit(&logv1.Change{Kind: 3, Definition: &logv1.Definition{}}), fsm.ErrMalformed},
		{"on_expiry larger than a byte", edit(&logv1.Change{Kind: 1, Definition: &logv1.Definition{OnExpiry: 257}}), fsm.ErrMalformed},
		{"labels out of order", edit(&logv1.Change{Kind: 1, Definition: &logv1.Definition{Labels: []*logv1.Label{{Key: "b"}, {Key: "a"}}}}), fsm.ErrMalformed},
		{"missed work of kind 5", entry(2, &logv1.Command{Kind: &logv1.Command_NoteMissed{NoteMissed: &logv1.NoteMissed{Missed: 5}}}), fsm.ErrMalformed},
		{"command above the level of its entry", entry(1, &logv1.Command{Kind: &logv1.Command_EndQuarantine{EndQuarantine: &logv1.EndQuarantine{}}}), fsm.ErrMalformed},
		{"field above the level of its entry", entry(1, &logv1.Command{Kind: &logv1.Command_Pause{Pause: &logv1.Pause{Drain: 1}}}), fsm.ErrMalformed},
		{"no settings", entry(1, &logv1.Command{Kind: &logv1.Command_Configure{Configure: &logv1.Configure{}}}), fsm.ErrMalformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := fsm.Decode(tc.entry); !errors.Is(err, tc.err) {
				t.Fatalf("Decode() = %v, want %v", err, tc.err)
			}
			l := newLog(t)
			l.define("s")
			before := snapshot(t, l.state())
			_, err := l.m.Apply(l.index+1, l.term, tc.entry)
			if !errors.Is(err, tc.err) || !strings.Contains(err.Error(), "entry 2 of term 3") {
				t.Fatalf("Apply() = %v, want %v with the entry's index and term", err, tc.err)
			}
			if !bytes.Equal(before, snapshot(t, l.state())) {
				t.Fatal("Apply() of an invalid entry changed the state")
			}
		})
	}
}

// Entries and the state must not contain data that an older server would ignore.
func TestLevel_AboveClusterLevel_IsRefused(t *testing.T) {
	until := at(1)
	newer := []fsm.Command{
		fsm.EndDrain{}, fsm.Revert{}, fsm.Sight{}, fsm.NoteMissed{}, fsm.EndQuarantine{}, fsm.EditBatch{Drain: 1}, fsm.EditBatch{Until: until},
		fsm.SetCordon{ID: "k", Drain: 1}, fsm.Pause{Drain: 1}, fsm.Revoke{Drain: 1}, fsm.Revoke{UnsafeNow: true},
		fsm.Release{Job: semaphore.JobCutShort},
	}
	for _, cmd := range newer {
		if got := fsm.Level(cmd); got != 2 {
			t.Errorf("Level(%+v) = %d, want 2", cmd, got)
		}
		if _, err := fsm.Encode(1, []fsm.Command{cmd}); err == nil || !strings.Contains(err.Error(), "it requires feature level 2, but the cluster is at 1") {
			t.Errorf("Encode(1, %+v) = %v, want an error about the feature level", cmd, err)
		}
		l := newLog(t)
		if why := unchanged[fsm.InvalidResult](l, cmd).Why; !strings.Contains(why, "requires feature level 2, but the cluster is at 1") {
			t.Errorf("Apply(%+v): got reason %s, want one about the feature level", cmd, why)
		}
	}
	for _, cmd := range append(runCommands(), workCommands()...) {
		if got := fsm.Level(cmd); got != 4 {
			t.Errorf("Level(%+v) = %d, want 4", cmd, got)
		}
		l := newLevel2Log(t)
		if why := unchanged[fsm.InvalidResult](l, cmd).Why; !strings.Contains(why, "requires feature level 4, but the cluster is at 2") {
			t.Errorf("Apply(%+v): got reason %s, want one about the feature level", cmd, why)
		}
	}
	for _, cmd := range level1Commands() {
		if got := fsm.Level(cmd); got != 1 {
			t.Errorf("Level(%+v) = %d, want 1", cmd, got)
		}
		if _, err := fsm.Encode(1, []fsm.Command{cmd}); err != nil {
			t.Errorf("Encode(1, %+v) = %v", cmd, err)
		}
	}
	if _, err := fsm.Encode(1, []fsm.Command{fsm.RaiseFeatureLevel{Level: 2}}); err != nil {
		t.Errorf("Encode(1, RaiseFeatureLevel) = %v", err)
	}
}

// FuzzDecode checks that Decode returns commands or an error for any input, and that the commands can be applied.
func FuzzDecode(f *testing.F) {
	for _, cmd := range everyCommand() {
		entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{cmd})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(entry)
	}
	whole, err := fsm.Encode(fsm.SupportedLevel, everyCommand())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte{})
	f.Add([]byte{8, 2})
	f.Add([]byte{8, 3})
	start := snapshot(f, everyCommandScenario(f).state())
	f.Fuzz(func(t *testing.T, entry []byte) {
		cmds, err := fsm.Decode(entry)
		if err != nil {
			if !errors.Is(err, fsm.ErrMalformed) && !errors.Is(err, fsm.ErrUnknownCommand) {
				t.Fatalf("Decode() = %v, want ErrMalformed or ErrUnknownCommand", err)
			}
			return
		}
		reencoded, err := fsm.Encode(fsm.SupportedLevel, cmds)
		if err != nil {
			t.Fatalf("Encode() of decoded commands = %v", err)
		}
		redecoded, err := fsm.Decode(reencoded)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "commands", redecoded, cmds)

		m := fsm.New("")
		if err := m.Restore(bytes.NewReader(start)); err != nil {
			t.Fatal(err)
		}
		s := m.State()
		if _, err := m.Apply(s.Index()+1, s.Term(), entry); err != nil {
			t.Fatal(err)
		}
		// Check that the resulting state can be restored.
		if !bytes.Equal(snapshot(t, restored(t, m.State()).State()), snapshot(t, m.State())) {
			t.Fatal("snapshot changed after a restore")
		}
	})
}
