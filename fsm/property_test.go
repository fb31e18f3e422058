package fsm_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// There are only a few values of each kind, so that commands often affect the same objects.
var (
	modelNames      = []string{"a", "b", "c", ""} // the empty name is for journal entries about cordons and settings
	modelSemaphores = modelNames[:3]
	modelIdentities = []semaphore.Identity{{Group: "g", Acquirer: "x"}, {Group: "g", Acquirer: "y"}, {Group: "g", Acquirer: "x", HolderID: "1"}, {Group: "g", Acquirer: "x", Principal: "p"}}
	modelRequests   = []string{"", "r1", "r2", "r3"}
	modelFirings    = []*semaphore.Firing{nil, nil, newFiring("f", 10), newFiring("f", 20), newFiring("f", 0), newFiring("g", 10)}
	modelDurations  = []time.Duration{time.Minute, time.Second, 2 * time.Hour, 0}
)

// draw generates commands, mostly valid ones.
type draw struct {
	*rapid.T
	m    *model
	jobs bool // generate mostly job commands
}

func pick[T any](d draw, what string, from ...T) T { return rapid.SampledFrom(from).Draw(d.T, what) }

func (d draw) likely(what string) bool { return rapid.IntRange(0, 7).Draw(d.T, what) > 0 }

func (d draw) name() string { return pick(d, "name", modelSemaphores...) }

func (d draw) text(what string) string { return pick(d, what, "", "ann", "bob") }

func (d draw) at() time.Time { return at(rapid.IntRange(0, 30).Draw(d.T, "at")) }

// token draws the token of an existing permit, or any token.
func (d draw) token() uint64 {
	if n := len(d.m.permits); n > 0 && d.likely("an existing token") {
		return d.m.permits[rapid.IntRange(0, n-1).Draw(d.T, "permit")].Token
	}
	return rapid.Uint64Range(0, d.m.token+1).Draw(d.T, "token")
}

func (d draw) timerTerm() uint64 {
	if d.likely("current term") {
		return d.m.term
	}
	return rapid.Uint64Range(0, d.m.term+1).Draw(d.T, "term")
}

func (d draw) version(name string) uint64 {
	if def := d.m.definition(name); def != nil && d.likely("current version") {
		return def.Version
	}
	return rapid.Uint64Range(0, d.m.revision+1).Draw(d.T, "version")
}

func (d draw) definition(name string) *semaphore.Definition {
	return definition(name, func(def *semaphore.Definition) {
		def.Permits = uint32(rapid.IntRange(0, 4).Draw(d.T, "permits"))
		def.OnExpiry = pick(d, "on expiry", semaphore.OnExpiryFree, semaphore.OnExpiryHold)
		def.FiringOnLoss = pick(d, "firing on loss", semaphore.FiringSpent, semaphore.FiringFree)
		def.Takeover = rapid.Bool().Draw(d.T, "takeover")
		if d.m.level >= 4 {
			def.MaxAttempts = uint32(rapid.IntRange(0, 3).Draw(d.T, "max attempts"))
		}
		if d.likely("valid") {
			def.Duration = pick(d, "duration", time.Minute, time.Second)
		} else {
			def.Duration = pick(d, "duration", modelDurations...)
		}
	})
}

func (d draw) changes() []fsm.Change {
	var out []fsm.Change
	for range rapid.IntRange(1, 3).Draw(d.T, "changes") {
		c := fsm.Change{Kind: pick(d, "kind", fsm.Create, fsm.Replace, fsm.Delete, fsm.Declare), Name: d.name()}
		if d.likely("sensible") && (d.m.definition(c.Name) == nil) != (c.Kind == fsm.Create || c.Kind == fsm.Declare) {
			if c.Kind = fsm.Create; d.m.definition(c.Name) != nil {
				c.Kind = fsm.Replace
			}
		}
		if c.Kind == fsm.Replace || c.Kind == fsm.Delete {
			c.ExpectedVersion = d.version(c.Name)
		}
		if c.Kind != fsm.Delete {
			c.Definition = d.definition(c.Name)
		}
		out = append(out, c)
	}
	return out
}

// cooling draws a cooling duration, or returns 0 below feature level 3.
func (d draw) cooling() time.Duration {
	if d.m.level < 3 {
		return 0
	}
	return pick(d, "cooling", 0, 0, time.Second, 9*time.Hour, -1)
}

func (d draw) command() fsm.Command {
	if d.jobs && d.likely("a job command") {
		return d.workCommand()
	}
	switch pick(d, "command", "grant", "grant", "grant", "grant", "release", "release", "expire", "expire", "edit", "edit", "other", "other", "other", "due", "work", "work", "work", "work") {
	case "work":
		if d.m.level >= 4 {
			return d.workCommand()
		}
		return d.otherCommand()
	case "grant":
		g := fsm.Grant{
			Semaphore: d.name(), Identity: pick(d, "identity", modelIdentities...), Weight: uint32(rapid.IntRange(1, 3).Draw(d.T, "weight")),
			Firing: pick(d, "firing", modelFirings...), RequestID: pick(d, "request", modelRequests...), CordonRevision: d.m.cordonRevision, At: d.at(),
		}
		g.DefinitionVersion = d.version(g.Semaphore)
		if !d.likely("no metadata") {
			g.Metadata = map[string]string{"pid": "7", "a": "b"}
		}
		if !d.likely("current cordon revision") {
			g.CordonRevision++
		}
		if !d.likely("any permit revision") {
			revision := rapid.Uint64Range(0, d.m.revision).Draw(d.T, "expected revision")
			if rapid.Bool().Draw(d.T, "current revision") {
				revision = d.m.permitRevision(g.Semaphore)
			}
			g.ExpectedRevision = &revision
		}
		g.RequestRevision = d.requestRevision()
		if own := d.m.own(g.Semaphore, g.Identity); d.m.level >= 3 && own != nil && d.likely("supersedes its own permit") {
			g.Supersedes = own.Token
			g.Replaces = rapid.Bool().Draw(d.T, "replaces")
			if d.likely("same weight and firing") {
				g.Weight, g.Firing = own.Weight, own.Firing
			}
		}
		return g
	case "release":
		r := fsm.Release{
			Token: d.token(), Job: pick(d, "job", jobEnds()...), Cooling: pick(d, "cooling", 0, 0, time.Second, 9*time.Hour, -1), At: d.at(),
		}
		if r.Job == semaphore.JobFailed || d.m.level >= 4 && r.Job != semaphore.JobDone {
			r.Failure = d.text("failure")
		}
		if d.m.level >= 4 && (r.Job == semaphore.JobDone || r.Job == semaphore.JobFailed || !d.likely("a valid result")) {
			r.Result = pick(d, "result", nil, []byte("r"), []byte("rr"), []byte("rrr"))
		}
		return r
	case "expire":
		return fsm.Expire{Token: d.token(), Term: d.timerTerm(), Cooling: pick(d, "cooling", 0, 0, time.Second, 9*time.Hour), At: d.at()}
	case "edit":
		b := fsm.EditBatch{Changes: d.changes(), Author: d.text("author"), Reason: d.text("reason"), RequestID: pick(d, "request", modelRequests...), At: d.at()}
		b.Drain = d.drain()
		b.RequestHash, b.RequestRevision = d.requestHash()
		if rapid.IntRange(0, 3).Draw(d.T, "temporary") == 0 {
			b.Until = d.at()
			for i := range b.Changes {
				if c := &b.Changes[i]; c.Kind != fsm.Replace && d.likely("only replacements are temporary") {
					c.Kind, c.ExpectedVersion, c.Definition = fsm.Replace, d.version(c.Name), d.definition(c.Name)
				}
			}
		}
		return b
	case "due":
		return d.dueCommand()
	}
	return d.otherCommand()
}

// request draws the request id of an operator's change. Most are empty, because request ids require level 2.
func (d draw) request() string {
	return pick(d, "change request", append(slices.Repeat([]string{""}, 6), modelRequests...)...)
}

// journalLifetime draws a journal lifetime, or returns 0 below feature level 3.
func (d draw) journalLifetime() time.Duration {
	if d.m.level < 3 {
		return 0
	}
	return pick(d, "journal lifetime", 0, 0, time.Second, 5*time.Second, -1)
}

func (d draw) drain() time.Duration {
	return pick(d, "drain", 0, 0, 0, time.Minute, time.Hour, 25*time.Hour)
}

// timer identifies a drain or a temporary edit that one of the leader's timers ends.
type timer struct {
	change uint64
	name   string
	cordon string
	token  uint64
}

// allDrains returns the drains that have not ended.
func (m *model) allDrains() (all []timer) {
	for _, name := range modelSemaphores {
		for _, o := range m.drains[name] {
			all = append(all, timer{change: o.Revision, name: name})
		}
		if def := m.definition(name); def != nil && def.Pause != nil && def.Pause.Drain > 0 {
			all = append(all, timer{change: def.Pause.Revision, name: name})
		}
	}
	for _, c := range m.cordons {
		if c.Drain > 0 {
			all = append(all, timer{change: c.Revision, cordon: c.ID})
		}
	}
	for _, p := range m.permits {
		if p.StopOrder().Drain > 0 {
			all = append(all, timer{change: p.StopOrder().Revision, token: p.Token})
		}
	}
	return all
}

func (m *model) allEnds() (all []timer) {
	for _, name := range modelSemaphores {
		for _, e := range m.ends[name] {
			all = append(all, timer{change: e.Revision, name: name})
		}
	}
	return all
}

// dueTimer draws an existing timer, or any timer.
func (d draw) dueTimer(all []timer) (change uint64, names []string, cordon string, token uint64) {
	if len(all) == 0 || !d.likely("an existing change") {
		return rapid.Uint64Range(0, d.m.revision+1).Draw(d.T, "change"), []string{d.name(), d.name()}, pick(d, "id", "k", "l"), d.token()
	}
	t := all[rapid.IntRange(0, len(all)-1).Draw(d.T, "timer")]
	if t.name == "" {
		return t.change, nil, t.cordon, t.token
	}
	return t.change, []string{t.name, d.name(), t.name}, "", 0
}

func (d draw) dueCommand() fsm.Command {
	switch pick(d, "due", "drain", "drain", "revert", "revert", "sight", "missed", "quarantine") {
	case "drain":
		c := fsm.EndDrain{Term: d.timerTerm(), At: d.at()}
		c.Change, c.Names, c.Cordon, c.Token = d.dueTimer(d.m.allDrains())
		return c
	case "revert":
		c := fsm.Revert{Term: d.timerTerm(), At: d.at()}
		c.Change, c.Names, _, _ = d.dueTimer(d.m.allEnds())
		return c
	case "sight":
		c := fsm.Sight{Term: d.timerTerm()}
		for range rapid.IntRange(0, 3).Draw(d.T, "sightings") {
			c.Sightings = append(c.Sightings, fsm.Sighting{Group: pick(d, "group", "g", "h"), Acquirer: pick(d, "acquirer", "x", "y", "z"), At: d.at()})
		}
		if !d.likely("valid") {
			c.Sightings = append(c.Sightings, fsm.Sighting{Group: pick(d, "group", "", "g"), Acquirer: pick(d, "acquirer", "", "x")})
		}
		return c
	case "missed":
		return fsm.NoteMissed{
			Semaphore: d.name(), Term: d.timerTerm(), Missed: pick(d, "missed", fsm.NothingMissed, fsm.NoRequests, fsm.HeldTooLong), Text: d.text("text"), At: d.at(),
		}
	}
	return fsm.EndQuarantine{Term: d.timerTerm(), At: d.at()}
}

func (d draw) otherCommand() fsm.Command {
	names := func() []string {
		if d.likely("an existing name") && len(d.m.definitions) > 0 {
			return []string{d.m.definitions[rapid.IntRange(0, len(d.m.definitions)-1).Draw(d.T, "definition")].Definition.Name}
		}
		return rapid.SliceOfN(rapid.SampledFrom(modelSemaphores), 0, 3).Draw(d.T, "names")
	}
	operatorOrTimer := func() uint64 {
		if rapid.Bool().Draw(d.T, "operator") {
			return 0
		}
		return d.timerTerm()
	}
	revision := func() uint64 {
		if d.likely("any revision") {
			return 0
		}
		return rapid.Uint64Range(1, d.m.revision+1).Draw(d.T, "revision")
	}
	switch pick(d, "other command", "extend", "abandon", "end cooling", "end cooling", "clear", "clear", "revoke", "take over", "cancel",
		"cordon", "uncordon", "pause", "resume", "resume", "undo", "undo", "forget", "configure", "retire", "level", "trim", "trim", "forget firings", "forget firings",
		"bind", "bind", "token") {
	case "extend":
		return fsm.Extend{Token: d.token(), Duration: pick(d, "duration", modelDurations...), Term: d.timerTerm()}
	case "abandon":
		return fsm.Abandon{Token: d.token(), Term: d.timerTerm(), Cooling: d.cooling()}
	case "end cooling":
		return fsm.EndCooling{Token: d.token(), Term: d.timerTerm()}
	case "clear":
		return fsm.Clear{Token: d.token(), Author: d.text("author"), Reason: d.text("reason"), At: d.at()}
	case "revoke":
		return fsm.Revoke{
			Token: d.token(), Author: d.text("author"), Reason: d.text("reason"), At: d.at(), Drain: d.drain(), UnsafeNow: !d.likely("safe"),
		}
	case "take over":
		if d.m.level < 4 {
			return fsm.RetireMember{}
		}
		return fsm.TakeOver{Token: d.token(), By: pick(d, "identity", modelIdentities...), Reason: d.text("reason"), At: d.at()}
	case "cancel":
		c := fsm.Cancel{Semaphore: d.name(), Identity: pick(d, "identity", modelIdentities...), RequestID: pick(d, "request", modelRequests...)}
		if own := d.m.own(c.Semaphore, c.Identity); d.m.level >= 3 && own != nil {
			if d.likely("own token") {
				c.Token = own.Token
			}
			if d.likely("own request") {
				c.RequestID = own.RequestID
			}
			c.Cooling = d.cooling()
		}
		return c
	case "cordon":
		c := fsm.SetCordon{ID: pick(d, "id", "", "k", "l"), GroupPattern: d.text("pattern"), Until: d.at(), Author: d.text("author"), At: d.at(), Drain: d.drain(), RequestID: d.request()}
		c.RequestHash, c.RequestRevision = d.requestHash()
		return c
	case "uncordon":
		c := fsm.Uncordon{ID: pick(d, "id", "k", "l"), Term: operatorOrTimer(), Revision: revision(), Reason: d.text("reason"), At: d.at(), RequestID: d.request()}
		c.RequestHash, c.RequestRevision = d.requestHash()
		return c
	case "pause":
		c := fsm.Pause{
			Names: names(), Reason: d.text("reason"), Until: d.at(), Stop: rapid.Bool().Draw(d.T, "stop"), Author: d.text("author"), At: d.at(),
			Drain: d.drain(), RequestID: d.request(), Keep: rapid.Bool().Draw(d.T, "keep"),
		}
		c.RequestHash, c.RequestRevision = d.requestHash()
		return c
	case "resume":
		c := fsm.Resume{Names: names(), Term: operatorOrTimer(), Revision: revision(), Author: d.text("author"), At: d.at(), RequestID: d.request()}
		c.RequestHash, c.RequestRevision = d.requestHash()
		return c
	case "trim":
		return d.trim()
	case "undo":
		return d.undo()
	case "forget firings":
		if d.m.level < 3 {
			return fsm.RetireMember{}
		}
		if undo := d.undoFirings(); undo.Change != 0 && rapid.Bool().Draw(d.T, "undo of firings") {
			undo.Author, undo.At, undo.RequestID = d.text("author"), d.at(), d.request()
			return undo
		}
		return d.forgetFirings()
	case "forget":
		f := fsm.Forget{Semaphore: d.name(), Term: d.timerTerm(), Names: rapid.SliceOfN(rapid.SampledFrom([]string{"f", "g"}), 0, 2).Draw(d.T, "firings")}
		if rapid.Bool().Draw(d.T, "by due time") {
			f.UpTo = d.at()
		}
		if d.m.level >= 3 && rapid.Bool().Draw(d.T, "one by one") {
			f.Firings = []semaphore.Firing{{Name: pick(d, "firing", "f", "g"), Due: d.at()}}
		}
		return f
	case "configure":
		return fsm.Configure{Settings: fsm.Settings{
			MaxDuration: pick(d, "max duration", time.Hour, 3*time.Hour, time.Minute, 0), JournalPerSemaphore: uint32(rapid.IntRange(0, 4).Draw(d.T, "per semaphore")),
			JournalTotal: uint32(rapid.IntRange(0, 6).Draw(d.T, "total")), RememberedRequests: uint32(rapid.IntRange(0, 6).Draw(d.T, "requests")),
			RememberedDeletions: uint32(rapid.IntRange(0, 2).Draw(d.T, "deletions")), Requests: d.requestBounds(),
			JournalLifetime: d.journalLifetime(), Work: d.workLimits(),
		}, Author: d.text("author"), At: d.at()}
	case "bind":
		return d.setBinding()
	case "token":
		return d.tokenCommand()
	case "retire":
		return fsm.RetireMember{ID: pick(d, "id", "", "gk1", "gk2")}
	}
	return fsm.RaiseFeatureLevel{Level: pick(d, "level", uint32(0), uint32(1), uint32(2), uint32(3), uint32(4))}
}

// Random commands must have the same results in the machine and in the model, and leave both in the same state. A
// replica restored from a snapshot at a random point must behave identically.
func TestMachine_RandomCommands_AgreesWithModel(t *testing.T) { checkModel(t, false) }

// Jobs have a separate test because a random mix of all commands rarely completes one.
func TestMachine_RandomJobs_AgreesWithModel(t *testing.T) { checkModel(t, true) }

func checkModel(t *testing.T, jobs bool) {
	rapid.Check(t, func(t *rapid.T) {
		m, machine := newModel(), fsm.New(clusterID)
		m.term = 1
		levels := []uint32{1, 2, 2, 3, 3, 3, 4, 4, 4}
		if jobs {
			levels = []uint32{4}
		}
		if level := pick(draw{T: t}, "level", levels...); level > 1 {
			// Start with the feature level and quarantine of a recovered state, but with small tokens and revisions.
			records := readRecords(t, snapshot(t, machine.State()))
			if rapid.IntRange(0, 7).Draw(t, "quarantine") == 0 {
				m.quarantine = time.Minute
			}
			m.level, records[0].GetHeader().FeatureLevel, records[0].GetHeader().Quarantine = level, level, int64(m.quarantine)
			if err := machine.Restore(bytes.NewReader(writeRecords(t, records))); err != nil {
				t.Fatal(err)
			}
		}
		var replica *fsm.Machine // restored at a random point
		var events []fsm.Event
		machine.Subscribe(func(a fsm.Applied) { events = a.Events })
		d := draw{t, m, jobs}
		for index := range uint64(rapid.IntRange(1, 40).Draw(t, "entries")) {
			if !d.likely("same term") {
				m.term++
			}
			var cmds []fsm.Command
			var want []fsm.Result
			before := machine.State()
			m.jobEvents = nil
			for range rapid.IntRange(1, 4).Draw(t, "commands") {
				cmd := d.command()
				if jobs && index == 0 {
					cmd = d.firstDefinition()
				}
				cmds, want = append(cmds, cmd), append(want, m.apply(cmd))
			}
			entry, err := fsm.Encode(fsm.SupportedLevel, cmds)
			if err != nil {
				t.Fatal(err)
			}
			got, err := machine.Apply(index+1, m.term, entry)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "results", got, want)
			checkState(t, machine.State(), m)
			checkInvariants(t, before, machine.State(), events)
			checkWork(t, before, machine.State(), m, cmds, events)

			if replica != nil {
				if again, err := replica.Apply(index+1, m.term, entry); err != nil {
					t.Fatal(err)
				} else {
					same(t, "results of the restored machine", again, want)
				}
			}
			if replica == nil && rapid.IntRange(0, 9).Draw(t, "snapshot here") == 0 {
				replica = fsm.New("")
				if err := replica.Restore(bytes.NewReader(snapshot(t, machine.State()))); err != nil {
					t.Fatal(err)
				}
			}
			if replica != nil {
				if !bytes.Equal(snapshot(t, machine.State()), snapshot(t, replica.State())) {
					t.Fatal("the snapshots differ")
				}
				if hash(t, machine.State()) != hash(t, replica.State()) {
					t.Fatal("the hashes differ")
				}
			}
		}
	})
}

func same(t *rapid.T, what string, got, want any) {
	t.Helper()
	if diff := difference(want, got, cmpopts.IgnoreFields(fsm.InvalidResult{}, "Why"),
		cmpopts.IgnoreFields(work.LimitError{}, "Quantity", "Needed", "Max")); diff != "" {
		t.Fatalf("%s (-model +machine):\n%s", what, diff)
	}
}

// checkState compares all readable state with the model.
func checkState(t *rapid.T, s *fsm.State, m *model) {
	t.Helper()
	same(t, "revisions, token and term", []uint64{s.Revision(), s.LastToken(), s.CordonRevision(), s.Term()}, []uint64{m.revision, m.token, m.cordonRevision, m.term})
	same(t, "settings", s.Settings(), m.settings)
	same(t, "largest duration", s.LargestDuration(), m.largest)
	same(t, "counts", []int{s.DefinitionCount(), s.PermitCount()}, []int{len(m.definitions), len(m.permits)})

	var permits []semaphore.Permit
	for p := range s.Permits(0) {
		permits = append(permits, *p)
		same(t, "permit", s.Permit(p.Token), p)
	}
	same(t, "permits", permits, m.permits)
	var bySemaphore []semaphore.Permit
	for p := range s.HoldersFrom("", 0) {
		bySemaphore = append(bySemaphore, *p)
	}
	var wanted []semaphore.Permit
	var journal []fsm.JournalEntry
	for e := range s.Journal("", 0) {
		journal = append(journal, *e)
	}
	same(t, "journal", journal, m.journal)
	same(t, "changes forgotten", s.ChangesForgotten(), m.changesForgotten)
	same(t, "level and quarantine", []any{s.FeatureLevel(), s.Quarantine()}, []any{m.level, m.quarantine})
	same(t, "sightings", collect(s.Sightings()), m.sightings)
	same(t, "sighting count", s.SightingCount(), len(m.sightings))
	for _, seen := range m.sightings {
		found, ok := s.Sighting(seen.Group, seen.Acquirer)
		same(t, "sighting", []any{found, ok}, []any{seen, true})
	}
	for _, before := range []uint64{0, 1, m.revision/2 + 1, m.revision, m.revision + 1} {
		var backward, wanted []fsm.JournalEntry
		for e := range s.JournalBackward("", before) {
			backward = append(backward, *e)
		}
		for _, e := range slices.Backward(m.journal) {
			if before == 0 || e.Revision < before {
				wanted = append(wanted, e)
			}
		}
		same(t, "journal backward", backward, wanted)
	}
	names := slices.DeleteFunc(slices.Clone(modelSemaphores), func(name string) bool { return !m.hasData(name) })
	same(t, "names", collect(s.Names()), names)
	for _, name := range []string{"a", "b", "c"} {
		same(t, "definition", s.Definition(name), m.definition(name))
		same(t, "deleted", s.WasDeleted(name), m.wasDeleted(name))
		same(t, "permit revision of "+name, s.PermitRevision(name), m.permitRevision(name))
		same(t, "low water of "+name, s.LowWater(name), m.lowWater[name])
		same(t, "forgotten ends of "+name, s.EndsForgotten(name), m.endsForgotten[name])
		same(t, "used", s.Used(name), m.used(name))
		same(t, "drains", s.Drains(name), m.drains[name])
		var ends []fsm.EditEnd
		for _, end := range s.Ends(name) {
			ends = append(ends, *end)
		}
		same(t, "ends", ends, m.ends[name])
		same(t, "drains in facts", s.Facts(&semaphore.Request{Semaphore: name}, "").Drains, m.drains[name])
		var holders []semaphore.Permit
		for p := range s.Holders(name) {
			holders = append(holders, *p)
		}
		var want []semaphore.Permit
		for _, p := range m.permits {
			if p.Semaphore == name {
				want = append(want, p)
			}
		}
		same(t, "holders", holders, want)
		same(t, "holder count", s.HolderCount(name), len(want))
		wanted = append(wanted, want...)
		for _, id := range modelIdentities {
			same(t, "own", s.Own(name, id), m.own(name, id))
			for _, request := range modelRequests {
				same(t, "request", s.Request(name, id, request), m.request(name, id, request))
			}
		}
		claims := 0
		for _, f := range modelFirings[2:] {
			same(t, "claim", s.Claim(name, *f), m.claim(name, f))
			if m.claim(name, f) != nil {
				claims++
			}
		}
		same(t, "claim count", []int{s.ClaimCount(name), len(collect(s.Claims(name)))}, []int{claims, claims})
		var entries, wantEntries []fsm.JournalEntry
		for e := range s.Journal(name, 0) {
			entries = append(entries, *e)
		}
		for _, e := range m.journal {
			if e.Semaphore == name {
				wantEntries = append(wantEntries, e)
			}
		}
		same(t, "journal of "+name, entries, wantEntries)
		slices.Reverse(entries)
		var backward []fsm.JournalEntry
		for e := range s.JournalBackward(name, m.revision/2+1) {
			backward = append(backward, *e)
		}
		same(t, "journal of "+name+" backward", backward, slices.DeleteFunc(entries, func(e fsm.JournalEntry) bool { return e.Revision > m.revision/2 }))
	}
	same(t, "permits by semaphore", bySemaphore, wanted)
	for _, name := range modelNames {
		same(t, "forgotten mark of "+name, s.Forgotten(name), m.forgottenMark(name))
	}
	var requests []fsm.Remembered
	for _, name := range modelSemaphores {
		requests = append(requests, m.rememberedFor(name)...)
	}
	n, edits, bytes, editBytes := s.RequestMemory()
	same(t, "request memory", []uint64{uint64(n), uint64(edits), bytes, editBytes},
		[]uint64{uint64(len(requests)), uint64(len(m.rememberedFor(""))), totalSize(requests), totalSize(m.rememberedFor(""))})
	for _, request := range modelRequests {
		same(t, "edit request", s.EditRequest(request), m.request("", semaphore.Identity{}, request))
	}
	for token := range m.token + 2 {
		same(t, "ended permit", s.EndedPermit(token), m.endedPermit(token))
	}
	for _, c := range s.Cordons() {
		i := 0
		for i < len(m.cordons) && m.cordons[i].ID != c.ID {
			i++
		}
		if i == len(m.cordons) {
			t.Fatalf("cordon %q is not in the model", c.ID)
		}
		same(t, "cordon", *c, m.cordons[i])
	}
	same(t, "cordon count", len(s.Cordons()), len(m.cordons))
	m.checkAccess(t, s)
}

// checkRules checks that definitions, cordons and drains do not change unless Rules does.
func checkRules(t *rapid.T, before, after *fsm.State) {
	t.Helper()
	if after.Rules() != before.Rules() {
		if after.Rules() != after.Index() {
			t.Fatalf("Rules() = %d after a change, want the entry's index, %d", after.Rules(), after.Index())
		}
		return
	}
	same(t, "definitions while Rules is unchanged", collect(after.Definitions("")), collect(before.Definitions("")))
	same(t, "cordons while Rules is unchanged", after.Cordons(), before.Cordons())
	for _, name := range modelSemaphores {
		same(t, "drains while Rules is unchanged", after.Drains(name), before.Drains(name))
	}
}

// checkInvariants checks the invariants that do not depend on the model.
func checkInvariants(t *rapid.T, before, after *fsm.State, events []fsm.Event) {
	t.Helper()
	if after.Revision() < before.Revision() || after.LastToken() < before.LastToken() {
		t.Fatal("the revision or the last token decreased")
	}
	checkRules(t, before, after)
	revision := before.Revision()
	token := before.LastToken()
	for _, e := range events {
		if e.Revision < revision || e.Revision > after.Revision() {
			t.Fatalf("event has revision %d, want %d to %d", e.Revision, revision, after.Revision())
		}
		revision = e.Revision
		if e.Kind == fsm.Granted {
			if e.Permit.Token <= token {
				t.Fatalf("granted token %d, want a token above %d", e.Permit.Token, token)
			}
			token = e.Permit.Token
		}
	}
	type claim struct {
		semaphore string
		firing    semaphore.Firing
	}
	claimed := map[claim]uint64{}
	held := map[string]map[semaphore.Identity]bool{}
	used := map[string]uint64{}
	for p := range after.Permits(0) {
		used[p.Semaphore] += uint64(p.Weight)
		if p.State == semaphore.Cooling {
			continue
		}
		if held[p.Semaphore] == nil {
			held[p.Semaphore] = map[semaphore.Identity]bool{}
		}
		if held[p.Semaphore][p.Identity] {
			t.Fatalf("%+v holds two permits of %q", p.Identity, p.Semaphore)
		}
		held[p.Semaphore][p.Identity] = true
		if p.Firing != nil && p.State == semaphore.Live {
			key := claim{p.Semaphore, *p.Firing}
			if claimed[key] != 0 {
				t.Fatalf("permits %d and %d both have firing %+v", claimed[key], p.Token, p.Firing)
			}
			claimed[key] = p.Token
			if c := after.Claim(p.Semaphore, *p.Firing); c == nil || c.Token != p.Token {
				t.Fatalf("claim of permit %d's firing = %+v, want one with the permit's token", p.Token, c)
			}
		}
	}
	for _, name := range modelSemaphores {
		if after.Used(name) != used[name] {
			t.Fatalf("Used(%q) = %d, want %d, the total weight of its permits", name, after.Used(name), used[name])
		}
		// The used weight may rise above the number of permits only if the definition changed.
		now, prev := after.Definition(name), before.Definition(name)
		if now != nil && prev != nil && now.Version == prev.Version && used[name] > uint64(now.Definition.Permits) && used[name] > before.Used(name) {
			t.Fatalf("Used(%q) rose from %d to %d, but the definition has %d permits", name, before.Used(name), used[name], now.Definition.Permits)
		}
	}
}
