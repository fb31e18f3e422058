package fsm_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/fsm"
	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRestore_ReplacesStateAndNotifiesSubscribers(t *testing.T) {
	scenario := everyCommandScenario(t)
	m := fsm.New("")
	var delivered []fsm.Applied
	m.Subscribe(func(a fsm.Applied) { delivered = append(delivered, a) })
	if err := m.Restore(bytes.NewReader(snapshot(t, scenario.state()))); err != nil {
		t.Fatal(err)
	}
	s := m.State()
	equal(t, "cluster id", s.ClusterID(), clusterID)
	equal(t, "index and term", []uint64{s.Index(), s.Term()}, []uint64{scenario.index, scenario.term})
	equal(t, "state", snapshotRecords(t, s), snapshotRecords(t, scenario.state()))
	if len(delivered) != 1 || !delivered[0].Restored || delivered[0].State != s || len(delivered[0].Events) != 0 || delivered[0].Index != scenario.index {
		t.Fatalf("Restore delivered %+v, want one Applied that is Restored and has no events", delivered)
	}
	equal(t, "everything", everything(s), everything(scenario.state()))
	for p := range scenario.state().Permits(0) {
		equal(t, "own", s.Own(p.Semaphore, p.Identity), scenario.state().Own(p.Semaphore, p.Identity))
		equal(t, "used", s.Used(p.Semaphore), scenario.state().Used(p.Semaphore))
	}
	// The restored machine continues from the restored state.
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{fsm.RetireMember{ID: "gk8"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Apply(scenario.index+1, scenario.term, entry); err != nil {
		t.Fatal(err)
	}
}

func TestRestore_SnapshotFromAnotherCluster_IsRefused(t *testing.T) {
	file := snapshot(t, newLog(t).state())
	for id, ok := range map[string]bool{"": true, clusterID: true, "5eed.2": false} {
		m := fsm.New(id)
		before := m.State()
		err := m.Restore(bytes.NewReader(file))
		switch {
		case ok && err != nil:
			t.Errorf("Restore() with cluster id %q = %v, want nil", id, err)
		case !ok && (!errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), `"5eed.1"`) || m.State() != before):
			t.Errorf("Restore() with cluster id %q = %v, want ErrSnapshot naming 5eed.1 and an unchanged state", id, err)
		}
	}
}

// Restore detects damage to any byte and truncation at any length, and keeps the old state.
func TestRestore_Damaged_IsRefused(t *testing.T) {
	file := snapshot(t, everyCommandScenario(t).state())
	l := newLog(t)
	l.define("mine")
	l.m.Subscribe(func(fsm.Applied) { t.Error("a subscriber was called even though Restore failed") })
	before := l.state()
	wantRefused := func(what string, i int, b []byte) {
		if err := l.m.Restore(bytes.NewReader(b)); !errors.Is(err, fsm.ErrSnapshot) {
			t.Fatalf("%s at byte %d of %d: Restore() = %v, want ErrSnapshot", what, i, len(file), err)
		}
		if l.state() != before {
			t.Fatalf("%s at byte %d: the state was replaced even though Restore failed", what, i)
		}
	}
	for i := range file {
		wantRefused("truncated", i, file[:i])
		flipped := slices.Clone(file)
		flipped[i] ^= 0x10
		wantRefused("a flipped bit", i, flipped)
	}
	wantRefused("trailing bytes", len(file), append(slices.Clone(file), 0))
	wantRefused("a huge length", 0, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	wantRefused("an unterminated length", 0, bytes.Repeat([]byte{0xff}, 100))
	wantRefused("a length beyond the end", 0, []byte{0xff, 0xff, 0xff, 0x0f})
	if err := l.m.Restore(io.MultiReader(bytes.NewReader(file[:99]), brokenReader{})); !errors.Is(err, errBroken) {
		t.Fatalf("Restore() = %v, want the reader's error", err)
	}
}

var errBroken = errors.New("read failed")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// Records are read ahead in batches. Errors must name the right record at any batch boundary.
func TestRestore_ReadAhead_ReportsBadRecord(t *testing.T) {
	for _, count := range []int{254, 255, 256, 257, 258, 4000} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			l := newLog(t)
			for i := range count - 2 { // without header and trailer
				l.apply(fsm.RetireMember{ID: fmt.Sprintf("gk%06d", i)})
			}
			file := snapshot(t, l.state())
			records := readRecords(t, file)
			if len(records) != count {
				t.Fatalf("got %d records, want %d", len(records), count)
			}
			m := fsm.New("")
			if err := m.Restore(bytes.NewReader(file)); err != nil {
				t.Fatal(err)
			}
			equal(t, "state", snapshotRecords(t, m.State()), snapshotRecords(t, l.state()))

			offsets := make([]int, count) // offset of each record
			for i, at := 0, 0; i < count; i++ {
				offsets[i] = at
				size, n := binary.Uvarint(file[at:])
				at += n + int(size)
			}
			for _, i := range []int{0, 1, 2, count / 2, count - 2, count - 1} {
				wantRefused := func(what string, b []byte, record int, wantErr string) {
					t.Helper()
					err := fsm.New("").Restore(bytes.NewReader(b))
					if want := fmt.Sprintf("record %d: %s", record, wantErr); !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), want) {
						t.Errorf("%s at record %d: Restore() = %v, want %q", what, i+1, err, want)
					}
				}
				at := offsets[i]
				wantRefused("truncated", file[:at], i+1, "truncated")
				wantRefused("truncated within the record", file[:at+3], i+1, "truncated")
				wantRefused("a wrong length", append(slices.Clone(file[:at]), 0xff, 0xff, 0xff, 0xff, 0x7f), i+1, "damaged: its stated length is")
				if i > 0 && i < count-2 {
					swapped := slices.Clone(records)
					swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
					wantRefused("out of order", writeRecords(t, swapped), i+2, "retired member")
				}
			}
			if err := fsm.New("").Restore(bytes.NewReader(append(slices.Clone(file), 0))); err == nil || !strings.Contains(err.Error(), "bytes after the trailer") {
				t.Errorf("Restore() with bytes after the trailer = %v, want an error", err)
			}
		})
	}
}

// A snapshot with a valid checksum may still be inconsistent if a faulty server wrote it.
func TestRestore_Inconsistent_IsRefused(t *testing.T) {
	find := func(records []*logv1.Record, matches func(*logv1.Record) bool) *logv1.Record {
		i := slices.IndexFunc(records, matches)
		if i < 0 {
			t.Fatal("the scenario has no matching record")
		}
		return records[i]
	}
	header := func(r []*logv1.Record) *logv1.Header { return r[0].GetHeader() }
	permit := func(state semaphore.PermitState) func([]*logv1.Record) *logv1.StoredPermit {
		return func(r []*logv1.Record) *logv1.StoredPermit {
			return find(r, func(r *logv1.Record) bool { return r.GetPermit().GetState() == uint32(state) }).GetPermit()
		}
	}
	live := permit(semaphore.Live)
	claim := func(r []*logv1.Record) *logv1.StoredClaim { // the live permit's claim
		token := live(r).GetToken()
		return find(r, func(r *logv1.Record) bool { return r.GetClaim().GetToken() == token }).GetClaim()
	}
	request := func(r []*logv1.Record) *logv1.StoredRequest {
		return find(r, func(r *logv1.Record) bool { return r.GetRequest().GetToken() != 0 }).GetRequest()
	}
	definition := func(r []*logv1.Record) *logv1.StoredDefinition { return r[1].GetDefinition() }
	journal := func(r []*logv1.Record) *logv1.JournalEntry {
		return find(r, func(r *logv1.Record) bool { return r.GetJournal() != nil }).GetJournal()
	}
	entryOf := func(r []*logv1.Record, kind fsm.EventKind) *logv1.JournalEntry {
		return find(r, func(r *logv1.Record) bool { return r.GetJournal().GetKind() == uint32(kind) }).GetJournal()
	}
	gate := func(r []*logv1.Record) *logv1.StoredSemaphore {
		return find(r, func(r *logv1.Record) bool { return r.GetSemaphore() != nil }).GetSemaphore()
	}
	plainGate := func(r []*logv1.Record) *logv1.StoredSemaphore { // without drains or temporary edits
		return find(r, func(r *logv1.Record) bool { return r.GetSemaphore().GetName() == "orphans" }).GetSemaphore()
	}
	drains := func(r []*logv1.Record) *logv1.StoredSemaphore {
		return find(r, func(r *logv1.Record) bool { return len(r.GetSemaphore().GetDrains()) > 1 }).GetSemaphore()
	}
	ends := func(r []*logv1.Record) *logv1.StoredSemaphore {
		return find(r, func(r *logv1.Record) bool { return len(r.GetSemaphore().GetReverts()) > 1 }).GetSemaphore()
	}
	sighting := func(r []*logv1.Record) *logv1.Sighting {
		return find(r, func(r *logv1.Record) bool { return r.GetSighting() != nil }).GetSighting()
	}
	edit := func(change func(r []*logv1.Record)) func([]*logv1.Record) []*logv1.Record {
		return func(r []*logv1.Record) []*logv1.Record { change(r); return r }
	}
	drop := func(matches func(*logv1.Record) bool) func([]*logv1.Record) []*logv1.Record {
		return func(r []*logv1.Record) []*logv1.Record {
			n := len(r)
			if r = slices.DeleteFunc(r, matches); len(r) == n {
				t.Fatal("the scenario has no matching record")
			}
			return r
		}
	}
	swap := func(i, j int) func([]*logv1.Record) []*logv1.Record {
		return edit(func(r []*logv1.Record) { r[i], r[j] = r[j], r[i] })
	}
	unknown := &logv1.Record{}
	unknown.ProtoReflect().SetUnknown([]byte{0xca, 0x3e, 0x00})
	for _, tc := range []struct {
		wantErr string
		change  func([]*logv1.Record) []*logv1.Record
	}{
		{"does not begin with a header", func(r []*logv1.Record) []*logv1.Record { return r[1:] }},
		{"format is 2", edit(func(r []*logv1.Record) { header(r).Format = 2 })},
		{fmt.Sprintf("feature level is %d", fsm.SupportedLevel+1), edit(func(r []*logv1.Record) { header(r).FeatureLevel = fsm.SupportedLevel + 1 })},
		{"feature level is 0", edit(func(r []*logv1.Record) { header(r).FeatureLevel = 0 })},
		{"no settings", edit(func(r []*logv1.Record) { header(r).Settings = nil })},
		{"its settings", edit(func(r []*logv1.Record) { header(r).Settings.MaxDuration = 1 })},
		{"largest duration", edit(func(r []*logv1.Record) { header(r).LargestDuration = 1 })},
		{"cordon revision", edit(func(r []*logv1.Record) { header(r).CordonRevision = header(r).LastRevision + 1 })},
		{"the last token", edit(func(r []*logv1.Record) { header(r).LastToken = 3 })},
		{"not between 1 and the last revision", edit(func(r []*logv1.Record) { header(r).LastRevision = header(r).CordonRevision })},
		{"journal entries, but the limit is", edit(func(r []*logv1.Record) { header(r).Settings.JournalTotal = 1 })},
		{"journal entries, but the limit is", edit(func(r []*logv1.Record) { header(r).Settings.JournalPerSemaphore = 1 })},
		{"requests, but the limit is", edit(func(r []*logv1.Record) { header(r).Settings.RememberedRequests = 1 })},
		{"deletions, but the limit is", edit(func(r []*logv1.Record) { header(r).Settings.RememberedDeletions = 0 })},
		{"definition \"export\" follows definition \"fresh\"", swap(1, 2)},
		{"a record of kind", func(r []*logv1.Record) []*logv1.Record { return slices.Insert(slices.Delete(r, 1, 2), 6, r[1]) }},
		{"unknown kind", func(r []*logv1.Record) []*logv1.Record { return slices.Insert(r, 1, unknown) }},
		{"unknown kind", func(r []*logv1.Record) []*logv1.Record { return slices.Insert(r, 1, &logv1.Record{}) }},
		{"a record of kind 1", func(r []*logv1.Record) []*logv1.Record { return slices.Insert(r, 1, r[0]) }},
		{"has no name", edit(func(r []*logv1.Record) { definition(r).Definition = nil })},
		{"unknown on_expiry", edit(func(r []*logv1.Record) { definition(r).Definition.OnExpiry = 0 })},
		{"definition export has revision 0", edit(func(r []*logv1.Record) { definition(r).Version = 0 })},
		{"the pause of definition", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetDefinition().GetPause() != nil }).GetDefinition().Pause.Revision = 1 << 40
		})},
		{"the pause of definition", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetDefinition().GetPause() != nil }).GetDefinition().Pause.Revision = 0
		})},
		{"has weight 0", edit(func(r []*logv1.Record) { live(r).Weight = 0 })},
		{"has duration", edit(func(r []*logv1.Record) { live(r).Duration = 0 })},
		{"has duration", edit(func(r []*logv1.Record) { live(r).Duration = 1 << 60 })},
		{"unknown permit state", edit(func(r []*logv1.Record) { live(r).State = 4 })},
		{"unknown stop cause", edit(func(r []*logv1.Record) { live(r).Stop = 99 })},
		{"unknown permit end", edit(func(r []*logv1.Record) { live(r).Ended = 99 })},
		{"has no semaphore", edit(func(r []*logv1.Record) { live(r).Semaphore = "" })},
		{"already holds another", func(r []*logv1.Record) []*logv1.Record {
			duplicate := proto.CloneOf(find(r, func(r *logv1.Record) bool { return r.GetPermit().GetState() == uint32(semaphore.Live) }))
			duplicate.GetPermit().Token = header(r).LastToken
			i := slices.IndexFunc(r, func(r *logv1.Record) bool { return r.GetClaim() != nil })
			return slices.Insert(slices.DeleteFunc(r, func(r *logv1.Record) bool { return r.GetPermit().GetToken() == duplicate.GetPermit().GetToken() }), i-1, duplicate)
		}},
		{"does not hold the claim", edit(func(r []*logv1.Record) { claim(r).State = uint32(semaphore.ClaimDone) })},
		{"does not hold the claim", drop(func(r *logv1.Record) bool { return r.GetClaim().GetState() == uint32(semaphore.ClaimHeld) })},
		{"which does not exist", drop(func(r *logv1.Record) bool { return r.GetPermit().GetState() == uint32(semaphore.Held) })},
		{"does not match its permit", edit(func(r []*logv1.Record) { live(r).Firing = nil })},
		{"a firing is missing", edit(func(r []*logv1.Record) { claim(r).Firing = nil })},
		{"claim of", edit(func(r []*logv1.Record) { claim(r).Token = 0 })},
		{"claim of", edit(func(r []*logv1.Record) { claim(r).Token = header(r).LastToken + 1 })},
		{"a claim has revision", edit(func(r []*logv1.Record) { claim(r).Revision = 0 })},
		{"unknown claim state", edit(func(r []*logv1.Record) { claim(r).State = 4 })},
		{"unknown claim state", edit(func(r []*logv1.Record) { claim(r).State = 7 })},
		{"is open after 0 attempts", edit(func(r []*logv1.Record) { claim(r).State = uint32(semaphore.ClaimOpen) })},
		{"it has data that requires feature level 4", edit(func(r []*logv1.Record) { claim(r).Attempts = 2 })},
		{"cordon \"\"", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetCordon() != nil }).GetCordon().Id = ""
		})},
		{"unknown request outcome", edit(func(r []*logv1.Record) { request(r).Outcome = 9 })},
		{"the outcome is invalid", edit(func(r []*logv1.Record) { request(r).Outcome = 6 })},
		{"unknown edit kind", edit(func(r []*logv1.Record) { request(r).Edit = 7 })},
		{"does not edit any", edit(func(r []*logv1.Record) { request(r).Edit = 1 })},
		{"neither a request id nor a token", edit(func(r []*logv1.Record) { request(r).Token, request(r).RequestId = 0, "" })},
		{"deletion of", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetDeletion() != nil }).GetDeletion().Name = ""
		})},
		{"is both defined and deleted", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetDeletion() != nil }).GetDeletion().Name = "export"
		})},
		{"unknown journal entry kind", edit(func(r []*logv1.Record) { journal(r).Kind = 0 })},
		{"journal entry", edit(func(r []*logv1.Record) { journal(r).Revision = 1 << 40 })},
		{"has an unexpected or missing cordon", edit(func(r []*logv1.Record) { entryOf(r, fsm.CordonedEvent).Cordon = nil })},
		{"has an unexpected or missing cordon", edit(func(r []*logv1.Record) { entryOf(r, fsm.UncordonedEvent).Cordon = nil })},
		{"has an unexpected or missing cordon", edit(func(r []*logv1.Record) { journal(r).Cordon = &logv1.StoredCordon{Id: "k", Revision: 1} })},
		{"does not match its cordon", edit(func(r []*logv1.Record) { entryOf(r, fsm.CordonedEvent).Cordon.Id = "" })},
		{"does not match its cordon", edit(func(r []*logv1.Record) { entryOf(r, fsm.CordonedEvent).Semaphore = "export" })},
		{"does not match its cordon", edit(func(r []*logv1.Record) { entryOf(r, fsm.CordonedEvent).Cordon.Revision-- })},
		{"does not match its cordon", edit(func(r []*logv1.Record) { entryOf(r, fsm.UncordonedEvent).Cordon.Revision = 0 })},
		{"does not match its cordon", edit(func(r []*logv1.Record) {
			e := entryOf(r, fsm.UncordonedEvent)
			e.Cordon.Revision = e.GetRevision()
		})},
		{"has an unexpected or missing pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.PausedEvent).Pause = nil })},
		{"has an unexpected or missing pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.ResumedEvent).Pause = nil })},
		{"has an unexpected or missing pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.Replaced).Pause = &logv1.StoredPause{Revision: 1} })},
		{"does not match its pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.Deleted).Pause = &logv1.StoredPause{Revision: 1 << 40} })},
		{"replaced something that is not older", edit(func(r []*logv1.Record) {
			entryOf(r, fsm.PausedEvent).PauseBefore = &logv1.StoredPause{Revision: entryOf(r, fsm.PausedEvent).GetRevision()}
		})},
		{"replaced something that is not older", edit(func(r []*logv1.Record) { entryOf(r, fsm.Replaced).CordonBefore = &logv1.StoredCordon{Revision: 1} })},
		{"cannot have undone change", edit(func(r []*logv1.Record) {
			entryOf(r, fsm.PausedEvent).Undoes = entryOf(r, fsm.PausedEvent).GetRevision()
		})},
		{"cannot have undone change", edit(func(r []*logv1.Record) { entryOf(r, fsm.HeardEvent).Undoes = 1 })},
		{"temporary edits and restored", edit(func(r []*logv1.Record) { entryOf(r, fsm.HeardEvent).RestoredEnds = ends(r).GetReverts() })},
		{"a temporary edit of a different definition", edit(func(r []*logv1.Record) {
			entryOf(r, fsm.Deleted).RemovedEnds = []*logv1.StoredRevert{{Revision: 1, Until: 1}}
		})},
		{"was restored from change", edit(func(r []*logv1.Record) {
			p := find(r, func(r *logv1.Record) bool { return r.GetDefinition().GetPause() != nil }).GetDefinition().Pause
			p.Change = p.Revision
		})},
		{"does not match its pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.PausedEvent).Semaphore = "" })},
		{"does not match its pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.PausedEvent).Pause.Revision-- })},
		{"does not match its pause", edit(func(r []*logv1.Record) { entryOf(r, fsm.ResumedEvent).Pause.Revision = 0 })},
		{"does not match its pause", edit(func(r []*logv1.Record) {
			e := entryOf(r, fsm.ResumedEvent)
			e.Pause.Revision = e.GetRevision()
		})},
		{"permit revision", edit(func(r []*logv1.Record) { gate(r).PermitRevision = 1 << 40 })},
		{"permits but no permit revision", drop(func(r *logv1.Record) bool { return r.GetSemaphore() != nil })},
		{"has no other data", edit(func(r []*logv1.Record) { plainGate(r).Name = "zzz" })},
		{"has no data", edit(func(r []*logv1.Record) { plainGate(r).PermitRevision = 0 })},
		{"request with revision", func(r []*logv1.Record) []*logv1.Record {
			i := slices.IndexFunc(r, func(r *logv1.Record) bool { return r.GetRequest() != nil })
			r[i], r[i+1] = r[i+1], r[i]
			return r
		}},
		{"ended twice", edit(func(r []*logv1.Record) {
			token := request(r).GetToken()
			for _, other := range r {
				if other.GetRequest().GetToken() != 0 {
					other.GetRequest().Token = token
				}
			}
		})},
		{"retired member", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetRetiredMember() != nil }).GetRetiredMember().Id = ""
		})},

		{"has data that requires feature level 2", edit(func(r []*logv1.Record) { header(r).FeatureLevel = 1 })},
		{"its quarantine is", edit(func(r []*logv1.Record) { header(r).Quarantine = -1 })},
		{"its quarantine is", edit(func(r []*logv1.Record) { header(r).Quarantine = 1 << 60 })},
		{"the drain", edit(func(r []*logv1.Record) { drains(r).Drains[0].Duration = -1 })},
		{"the drain", edit(func(r []*logv1.Record) { drains(r).Drains[0].Duration = int64(fsm.MaxDrain) + 1 })},
		{"has a drain of 0s", edit(func(r []*logv1.Record) { drains(r).Drains[0].Duration = 0 })},
		{"has a drain of 1m0s at revision", edit(func(r []*logv1.Record) { d := drains(r).Drains; d[0], d[1] = d[1], d[0] })},
		{"a drain of semaphore import has revision", edit(func(r []*logv1.Record) { drains(r).Drains[0].Revision = 1 << 40 })},
		{"drains, but the limit is 16", edit(func(r []*logv1.Record) {
			for range 15 {
				drains(r).Drains = append(drains(r).Drains, &logv1.StoredDrain{Revision: 1, Duration: 1})
			}
		})},
		{"a temporary edit of semaphore import has revision", edit(func(r []*logv1.Record) { ends(r).Reverts[0].Revision = 0 })},
		{"has a temporary edit with revision", edit(func(r []*logv1.Record) { e := ends(r).Reverts; e[0], e[1] = e[1], e[0] })},
		{"has a temporary edit with revision", edit(func(r []*logv1.Record) { ends(r).Reverts[0].Until = 0 })},
		{"a temporary edit of a different definition", edit(func(r []*logv1.Record) { ends(r).Reverts[0].Before = nil })},
		{"a temporary edit of a different definition", edit(func(r []*logv1.Record) { ends(r).Reverts[0].After.Name = "export" })},
		{"temporary edits, but the limit is 16", edit(func(r []*logv1.Record) {
			for range 16 {
				ends(r).Reverts = append(ends(r).Reverts, ends(r).Reverts[0])
			}
		})},
		{"temporary edits but no definition", edit(func(r []*logv1.Record) {
			plainGate(r).Reverts = ends(r).GetReverts()
		})},
		{"a pause has a drain but does not stop", edit(func(r []*logv1.Record) {
			find(r, func(r *logv1.Record) bool { return r.GetDefinition().GetPause().GetDrain() > 0 }).GetDefinition().Pause.Stop = false
		})},
		{"holder is not required to stop", edit(func(r []*logv1.Record) { live(r).Stop, live(r).StopDrain = 0, 1 })},
		{"holder is not required to stop", edit(func(r []*logv1.Record) { p := permit(semaphore.Held)(r); p.Stop, p.StopDrain = 1, 1 })},
		{"has a drain", edit(func(r []*logv1.Record) { entryOf(r, fsm.HeardEvent).Drain = 1 })},
		{"has an end", edit(func(r []*logv1.Record) { entryOf(r, fsm.HeardEvent).Until = 1 })},
		{"has an unexpected or missing kind of missed work", edit(func(r []*logv1.Record) { entryOf(r, fsm.MissedEvent).Missed = 0 })},
		{"has an unexpected or missing kind of missed work", edit(func(r []*logv1.Record) { entryOf(r, fsm.HeardEvent).Missed = 1 })},
		{"unknown kind of missed work", edit(func(r []*logv1.Record) { entryOf(r, fsm.MissedEvent).Missed = 5 })},
		{"sighting of", edit(func(r []*logv1.Record) { sighting(r).Group = "z" })},
		{"a sighting: group", edit(func(r []*logv1.Record) { sighting(r).Group = "" })},
		{"a sighting: at", edit(func(r []*logv1.Record) { sighting(r).At = 0 })},
	} {
		t.Run(tc.wantErr, func(t *testing.T) {
			records := tc.change(readRecords(t, snapshot(t, everyCommandScenario(t).state())))
			err := fsm.New("").Restore(bytes.NewReader(writeRecords(t, records)))
			if !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("Restore() = %v, want an error that contains %s", err, tc.wantErr)
			}
		})
	}
}

func TestRestore_WrongTrailer_IsRefused(t *testing.T) {
	file := snapshot(t, newLog(t).state())
	records := readRecords(t, file)
	trailer := records[len(records)-1].GetTrailer()
	for wantErr, change := range map[string]func(){
		"counts 1 records": func() { trailer.Records = 1 },
		"checksum":         func() { trailer.Records, trailer.Checksum = 0, nil },
	} {
		change()
		body, err := proto.Marshal(records[len(records)-1])
		if err != nil {
			t.Fatal(err)
		}
		head := file[:1+int(file[0])]
		b := append(append(slices.Clone(head), byte(len(body))), body...)
		if err := fsm.New("").Restore(bytes.NewReader(b)); !errors.Is(err, fsm.ErrSnapshot) || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("Restore() = %v, want an error that contains %s", err, wantErr)
		}
	}
}

func TestSnapshot_WriterFails_ReturnsError(t *testing.T) {
	for _, room := range []int{0, 10, 100} {
		if err := everyCommandScenario(t).state().Snapshot(&limitedWriter{room}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("Snapshot() with room for %d bytes = %v, want io.ErrShortWrite", room, err)
		}
	}
}

type limitedWriter struct{ room int }

func (f *limitedWriter) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// The hash depends on the state's contents, not on its index or term.
func TestHash_DependsOnlyOnContents(t *testing.T) {
	a, b := newLog(t), newLog(t)
	a.define("s")
	b.apply()
	b.define("s")
	if hash(t, a.state()) != hash(t, b.state()) {
		t.Fatal("the hash depends on the index")
	}
	seen := map[[32]byte]string{hash(t, a.state()): "start"}
	p := a.grant("s", "a")
	for _, cmd := range []fsm.Command{
		fsm.Extend{Token: p.Token, Duration: 90e9, Term: a.term}, fsm.Revoke{Token: p.Token}, fsm.Release{Token: p.Token, Cooling: 1e9},
		fsm.EndCooling{Token: p.Token, Term: a.term}, fsm.SetCordon{ID: "k"}, fsm.Uncordon{ID: "k"}, fsm.RetireMember{ID: "gk2"},
		fsm.Configure{Settings: fsm.Settings{MaxDuration: 90e9, RememberedRequests: 9}}, fsm.Forget{Semaphore: "s", Term: a.term, UpTo: at(1)},
	} {
		a.apply(cmd)
		h := hash(t, a.state())
		if prev, ok := seen[h]; ok {
			t.Errorf("the hash after %T equals the hash after %s", cmd, prev)
		}
		seen[h] = a.state().ClusterID()
	}
	if hash(t, fsm.New("5eed.1").State()) == hash(t, fsm.New("5eed.2").State()) {
		t.Error("two clusters have the same hash")
	}
}

// FuzzRestore checks that Restore either returns ErrSnapshot or restores a state that round-trips through a snapshot.
func FuzzRestore(f *testing.F) {
	scenario := snapshot(f, everyCommandScenario(f).state())
	f.Add(scenario)
	f.Add(scenario[:len(scenario)/2])
	f.Add(snapshot(f, requestScenario(f).state()))
	f.Add(snapshot(f, journalScenario(f).state()))
	f.Add(snapshot(f, supersedeScenario(f).state()))
	f.Add(snapshot(f, fsm.New("").State()))
	f.Add([]byte{})
	records := readRecords(f, scenario)
	for i := 1; i < len(records); i += 3 {
		f.Add(writeRecords(f, slices.Delete(slices.Clone(records), i, i+1)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := fsm.New("")
		if err := m.Restore(bytes.NewReader(withValidTrailer(b))); err != nil {
			if !errors.Is(err, fsm.ErrSnapshot) {
				t.Fatal(err)
			}
			return
		}
		once := snapshot(t, m.State())
		if !bytes.Equal(once, snapshot(t, restored(t, m.State()).State())) {
			t.Fatal("the restored state does not round-trip through a snapshot")
		}
		l := &log{tb: t, m: m, index: m.State().Index(), term: m.State().Term()}
		if l.index < 1<<62 {
			l.apply(everyCommand()...)
		}
	})
}
