package jobs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatekeeperd/gatekeeper/deploy/demo/stage"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// script builds the evidence for two jobs, one of each kind, that are due every 5 s. It contains the records of two
// applications, the store, and the servers. Times are in seconds on both clocks.
type script struct {
	a, b   *life
	writes []write
	claims map[firing]claim
	until  int // end of the window
	gap    span
}

var epoch = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func at(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func due(job string, s int) firing { return firing{job, epoch.Add(time.Duration(s) * time.Second)} }

// addRun records a run that finishes.
func (l *life) addRun(f firing, token uint64, from, until float64) {
	l.addStart(f, token, from)
	l.write(f, token, until, returned, stage.Record{})
	l.write(f, token, until, stage.Ended, stage.Record{Until: at(until)})
	l.write(f, token, until, finished, stage.Record{})
}

func (l *life) addStart(f firing, token uint64, from float64) {
	l.write(f, token, from, stage.Granted, stage.Record{Due: f.due})
	l.write(f, token, from, stage.Began, stage.Record{})
}

// addLostRun records a run that loses its permit at second lost and returns at second stops.
func (l *life) addLostRun(f firing, token uint64, from, lost, stops float64) {
	l.addStart(f, token, from)
	l.write(f, token, lost, stage.Ended, stage.Record{Until: at(lost), Lost: true})
	l.write(f, token, stops, returned, stage.Record{Text: "the permit is lost"})
	l.write(f, token, stops, finished, stage.Record{Lost: true, Text: "expired"})
}

// addFailedRun records a run that returns an error. stopped reports whether the run had to stop.
func (l *life) addFailedRun(f firing, token uint64, from, until float64, stopped bool) {
	l.addStart(f, token, from)
	l.write(f, token, until, returned, stage.Record{Text: "the store is full"})
	l.write(f, token, until, stage.Ended, stage.Record{Until: at(until)})
	l.write(f, token, until, finished, stage.Record{Lost: stopped})
}

func (l *life) write(f firing, token uint64, s float64, event stage.Event, rec stage.Record) {
	rec.Event, rec.Semaphore, rec.Token, rec.At = event, f.job, token, at(s)
	l.Records = append(l.Records, rec)
}

func newScript() *script {
	return &script{a: &life{Life: stage.Life{Name: "a"}}, b: &life{Life: stage.Life{Name: "b"}}, claims: map[firing]claim{}}
}

func (s *script) recordClaim(f firing, token uint64, winner string, state gatekeeperv1.FiringState) {
	s.claims[f] = claim{token: token, winner: winner, state: state}
}

const (
	done     = gatekeeperv1.FiringState_FIRING_STATE_DONE
	failed   = gatekeeperv1.FiringState_FIRING_STATE_FAILED
	cutShort = gatekeeperv1.FiringState_FIRING_STATE_CUT_SHORT
	spent    = gatekeeperv1.FiringState_FIRING_STATE_SPENT
)

func (s *script) evidence() *evidence {
	until := epoch
	if s.until > 0 {
		until = epoch.Add(time.Duration(s.until) * time.Second)
	}
	return &evidence{
		history: newHistory([]*life{s.a, s.b}),
		jobs: []job{
			{Name: "spent", Period: 5 * time.Second},
			{Name: "free", Period: 5 * time.Second, free: true},
		},
		writes: s.writes, claims: s.claims, leaderless: s.gap,
		window: window{from: epoch.Add(time.Millisecond), until: until, wall: epoch},
	}
}

// wantViolation expects exactly one violation that contains text, or none if text is empty.
func wantViolation(t *testing.T, violations []string, text string) {
	t.Helper()
	switch {
	case text == "" && len(violations) > 0:
		t.Errorf("got violations %q, want none", violations)
	case text != "" && (len(violations) != 1 || !strings.Contains(violations[0], text)):
		t.Errorf("got violations %q, want one that contains %q", violations, text)
	}
}

func TestRepeatedFirings_OnlyInterruptedFreeFiring_MayRunAgain(t *testing.T) {
	for _, test := range []struct {
		name       string
		setup      func(*script)
		again      int
		violations string
	}{
		{"RanOnce", func(s *script) { s.a.addRun(due("free", 5), 1, 5, 6); s.b.addRun(due("free", 10), 2, 10, 11) }, 0, ""},
		{"RerunAfterDone", func(s *script) { s.a.addRun(due("free", 5), 1, 5, 6); s.b.addRun(due("free", 5), 2, 7, 8) }, 0, "run twice"},
		{"FreeRerunAfterKill", func(s *script) {
			s.a.addStart(due("free", 5), 1, 5)
			s.a.Killed = at(6)
			s.b.addRun(due("free", 5), 2, 9, 10)
		}, 1, ""},
		{"FreeRerunAfterLoss", func(s *script) { s.a.addLostRun(due("free", 5), 1, 5, 6, 6); s.b.addRun(due("free", 5), 2, 9, 10) }, 1, ""},
		{"SpentRerunAfterKill", func(s *script) {
			s.a.addStart(due("spent", 5), 1, 5)
			s.a.Killed = at(6)
			s.b.addRun(due("spent", 5), 2, 9, 10)
		}, 0, "was spent"},
		{"ReleasedWithoutRunning", func(s *script) {
			s.a.write(due("spent", 5), 1, 5, stage.Granted, stage.Record{Due: due("spent", 5).due})
			s.a.write(due("spent", 5), 1, 5, finished, stage.Record{})
			s.b.addRun(due("spent", 5), 2, 6, 7)
		}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			test.setup(s)
			again, violations := s.evidence().repeatedFirings()
			wantViolation(t, violations, test.violations)
			if again != test.again {
				t.Errorf("got %d reruns, want %d", again, test.again)
			}
		})
	}
}

func TestOverlaps_TwoHoldersOfOnePermit_IsViolation(t *testing.T) {
	s := newScript()
	s.a.addRun(due("free", 5), 1, 5, 6)
	s.b.addRun(due("free", 10), 2, 6, 8)
	wantViolation(t, s.evidence().overlaps(), "")
	s.a.addRun(due("free", 15), 3, 15, 17)
	s.b.addRun(due("free", 20), 4, 16, 18)
	wantViolation(t, s.evidence().overlaps(), "overlap")
}

func TestOverlaps_DecreasingToken_IsViolation(t *testing.T) {
	s := newScript()
	s.a.addRun(due("free", 5), 7, 5, 6)
	s.b.addRun(due("free", 10), 6, 10, 11)
	wantViolation(t, s.evidence().overlaps(), "token decreased")
}

func TestSuccessions_JobContinues_IsViolationUnlessSuspended(t *testing.T) {
	s := newScript()
	s.a.addLostRun(due("free", 5), 1, 5, 8, 8)
	s.b.addRun(due("free", 10), 2, 9, 10)
	lost, suspended, violations := s.evidence().successions()
	wantViolation(t, violations, "")
	if lost != 1 || len(suspended) != 0 {
		t.Errorf("successions() found %d lost runs and suspended runs %v, want 1 and none", lost, suspended)
	}

	s = newScript()
	s.a.addLostRun(due("free", 5), 1, 5, 8, 12)
	s.b.addRun(due("free", 10), 2, 9, 10)
	_, _, violations = s.evidence().successions()
	wantViolation(t, violations, "continued after")

	s.a.suspended = span{at(6), at(11)}
	_, suspended, violations = s.evidence().successions()
	wantViolation(t, violations, "")
	if len(suspended) != 1 || suspended[0].Token != 1 {
		t.Errorf("successions() found suspended runs %v, want only the run with token 1", suspended)
	}
}

func TestStale_StoreRefusesOnlyOlderTokens(t *testing.T) {
	written := func(token uint64, accepted bool) write { return write{job: "free", token: token, accepted: accepted} }
	for _, test := range []struct {
		name       string
		writes     []write
		refused    int
		violations string
	}{
		{"OlderRefused", []write{written(1, true), written(2, true), written(1, false)}, 1, ""},
		{"OlderAccepted", []write{written(2, true), written(1, true)}, 0, "accepted write"},
		{"NewestRefused", []write{written(2, true), written(2, false)}, 0, "had seen no newer one"},
		{"OtherJob", []write{written(2, true), {job: "spent", token: 1, accepted: true}}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			s.writes = test.writes
			refused, violations := s.evidence().stale()
			wantViolation(t, violations, test.violations)
			if len(refused) != test.refused {
				t.Errorf("stale() = %v, want %d refused writes", refused, test.refused)
			}
		})
	}
}

func TestUnclaimed_NoReason_IsViolation(t *testing.T) {
	for _, test := range []struct {
		name       string
		setup      func(*script)
		why        string
		violations string
	}{
		{"Claimed", func(s *script) { s.a.addRun(due("free", 5), 1, 5, 6) }, "", ""},
		{"NoApplicationRuns", func(s *script) { s.a.Killed, s.b.Killed = at(1), at(2) }, noneRunning, ""},
		{"NoLeader", func(s *script) { s.gap = span{at(4), at(7)} }, noLeader, ""},
		{"StillWaiting", func(*script) {}, previousLost, ""},
		{"Suspended", func(s *script) { s.a.suspended = span{at(4), at(8)}; s.b.Killed = at(1) }, disrupted, ""},
		{"NoReason", func(s *script) { s.a.write(due("free", 5), 0, 4, skipped, stage.Record{Text: "FIRING_DONE"}) }, "", "a was able to run it"},
		{"NoReason_SkewedClock", func(s *script) {
			s.a.clock = -2 * time.Second
			s.a.write(due("free", 5), 0, 6, skipped, stage.Record{Text: "FIRING_DONE"})
		}, "", "a was able to run it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			s.until = 10
			s.recordClaim(due("spent", 5), 9, "a", done)
			test.setup(s)
			why, violations := s.evidence().unclaimed()
			wantViolation(t, violations, test.violations)
			if test.why == "" && len(why) > 0 || test.why != "" && why[test.why] != 1 {
				t.Errorf("got unclaimed firings %v, want %q", why, test.why)
			}
		})
	}
}

func TestAudit_ServersAndApplications_MustAgree(t *testing.T) {
	f := due("spent", 5)
	for _, test := range []struct {
		name       string
		setup      func(*script)
		died       int
		violations string
	}{
		{"Done", func(s *script) { s.a.addRun(f, 1, 5, 6); s.recordClaim(f, 1, "a", done) }, 0, ""},
		{"Spent", func(s *script) { s.a.addStart(f, 1, 5); s.a.Killed = at(6); s.recordClaim(f, 1, "a", spent) }, 0, ""},
		{"KilledBeforeRecording", func(s *script) { s.a.Killed = at(6); s.recordClaim(f, 1, "a", spent) }, 1, ""},
		{"SuspendedBeforeRecording", func(s *script) { s.a.suspended = span{at(4), at(8)}; s.recordClaim(f, 1, "a", spent) }, 1, ""},
		{"SuspendedAndDone", func(s *script) { s.a.suspended = span{at(4), at(8)}; s.recordClaim(f, 1, "a", done) }, 0, "no record of that"},
		{"MissingInApplications", func(s *script) { s.recordClaim(f, 1, "a", done) }, 0, "no record of that"},
		{"MissingOnServers", func(s *script) { s.a.addRun(f, 1, 5, 6) }, 0, "servers have no record of it"},
		{"OtherToken", func(s *script) { s.a.addRun(f, 2, 5, 6); s.recordClaim(f, 1, "b", done) }, 0, "recorded token 1"},
		{"DoneRecordedAsSpent", func(s *script) { s.a.addRun(f, 1, 5, 6); s.recordClaim(f, 1, "a", spent) }, 0, "recorded a loss"},
		{"Failed", func(s *script) { s.a.addFailedRun(f, 1, 5, 6, false); s.recordClaim(f, 1, "a", failed) }, 0, ""},
		{"FailedRecordedAsDone", func(s *script) { s.a.addFailedRun(f, 1, 5, 6, false); s.recordClaim(f, 1, "a", done) }, 0, "recorded it as done"},
		{"DoneRecordedAsFailed", func(s *script) { s.a.addRun(f, 1, 5, 6); s.recordClaim(f, 1, "a", failed) }, 0, "recorded a failure"},
		{"CutShort", func(s *script) { s.a.addFailedRun(f, 1, 5, 6, true); s.recordClaim(f, 1, "a", cutShort) }, 0, ""},
		{"DoneRecordedAsCutShort", func(s *script) { s.a.addRun(f, 1, 5, 6); s.recordClaim(f, 1, "a", cutShort) }, 0, "cut short"},
		{"KilledRecordedAsDone", func(s *script) { s.a.addStart(f, 1, 5); s.a.Killed = at(6); s.recordClaim(f, 1, "a", done) }, 0, "recorded it as done"},
		{"StillClaimed", func(s *script) {
			s.a.addRun(f, 1, 5, 6)
			s.recordClaim(f, 1, "a", gatekeeperv1.FiringState_FIRING_STATE_CLAIMED)
		}, 0, "at the end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScript()
			test.setup(s)
			died, violations := s.evidence().audit()
			wantViolation(t, violations, test.violations)
			if died != test.died {
				t.Errorf("got %d unrecorded claims, want %d", died, test.died)
			}
		})
	}
}

func reportOf(e *evidence, f *faults) *stage.Report {
	r := &stage.Report{}
	e.report(r, f)
	return r
}

// wantWrites checks the writes of the suspended application's first job: the last column in the first row of the last
// table.
func wantWrites(t *testing.T, r *stage.Report, want string) {
	t.Helper()
	lines := r.Tables[len(r.Tables)-1].Lines
	if got := lines[1][len(lines[1])-1]; got != want {
		t.Errorf("got writes %q, want %q", got, want)
	}
}

// In this scenario, application a is killed and application b is suspended.
func TestReport_FaultsWithoutEffect_AreViolations(t *testing.T) {
	setup := func() (*script, *faults) {
		s := newScript()
		s.a.addStart(due("spent", 5), 1, 5)
		s.a.addStart(due("free", 5), 2, 5)
		s.a.Killed = at(6)
		s.recordClaim(due("spent", 5), 1, "a", spent)
		s.b.addRun(due("free", 5), 3, 9, 9.5)
		s.recordClaim(due("free", 5), 3, "b", done)
		s.b.suspended = span{at(11), at(15)}
		s.b.addLostRun(due("free", 10), 4, 10, 14, 15)
		c := &life{}
		c.addRun(due("free", 10), 5, 14.5, 15)
		s.recordClaim(due("free", 10), 5, "c", done)
		s.a.Records = append(s.a.Records, c.Records...)
		s.writes = []write{{job: "free", token: 4, step: 1, at: at(10.5), accepted: true}, {job: "free", token: 5, step: 1, at: at(14.6), accepted: true},
			{job: "free", token: 4, step: 2, at: at(15), accepted: false}}
		return s, &faults{
			kill:    killedApp{app: "a", at: at(6), held: 2, freed: at(3)},
			suspend: suspendedApp{app: "b", when: s.b.suspended, caught: stage.Record{Semaphore: "free", Token: 4, Step: 2}, next: 5},
		}
	}
	s, f := setup()
	e := s.evidence()
	// c is a third application. To keep the test short, setup adds its records to a's.
	e.history = newHistory([]*life{cut(s.a, 5, false), s.b, cut(s.a, 5, true)})
	r := reportOf(e, f)
	wantViolation(t, r.Violations, "")
	for name, want := range map[string]string{
		"firings": "3 due, 3 claimed once, 0 claimed twice", "lost firings": "2 rerun as defined (free), 1 not rerun (spent)",
		"writes": "2 accepted, 1 refused",
	} {
		if !slices.ContainsFunc(r.Rows, func(row stage.Row) bool { return row.Name == name && strings.HasPrefix(row.Text, want) }) {
			t.Errorf("report has no row %q that starts with %q: %v", name, want, r.Rows)
		}
	}
	if len(r.Tables[0].Lines) != 1+2 || len(r.Tables[1].Lines) != 1+1 {
		t.Errorf("got tables %v, want 2 and 1 rows below the headings", r.Tables)
	}
	wantWrites(t, r, "write 2 refused: token 4 is older than 5")

	e.claims[due("free", 5)] = claim{token: 2, winner: "a", state: spent}
	e.history = newHistory([]*life{cut(s.a, 5, false), cut(s.b, 3, false), cut(s.a, 5, true)})
	if violations := reportOf(e, f).Violations; !strings.Contains(strings.Join(violations, "\n"), "was not freed") {
		t.Errorf("got violations %q, want one about a firing that was not freed", violations)
	}

	s, f = setup()
	e = s.evidence()
	e.history = newHistory([]*life{cut(s.a, 5, false), s.b, cut(s.a, 5, true)})
	e.writes = e.writes[:2]
	wantViolation(t, reportOf(e, f).Violations, "was not refused")

	s, f = setup()
	e = s.evidence()
	e.history = newHistory([]*life{cut(s.a, 5, false), s.b, cut(s.a, 5, true)})
	again := e.writes[2]
	again.step++
	e.writes = append(e.writes, again)
	wantViolation(t, reportOf(e, f).Violations, "checks its permit before each write")
}

func TestReportSuspended_LateWriteBeforeNextHolder_IsReportedAsAccepted(t *testing.T) {
	s := newScript()
	s.a.suspended = span{at(6), at(11)}
	s.a.addLostRun(due("free", 5), 1, 5, 8, 12)
	s.b.addRun(due("free", 10), 2, 10.9, 13)
	s.writes = []write{{job: "free", token: 1, step: 3, at: at(11.1), accepted: true}, {job: "free", token: 2, at: at(11.2), accepted: true}}
	e := s.evidence()
	_, suspended, _ := e.successions()
	r := &stage.Report{}
	e.suspended(r, suspendedApp{when: s.a.suspended}, suspended, nil)
	wantViolation(t, r.Violations, "was not refused") // no write was refused
	wantWrites(t, r, "write 3 accepted: it arrived before the first write with token 2")
}

func TestAudit_JobOrderedToStop_IsCutShort(t *testing.T) {
	s := newScript()
	f := due("spent", 5)
	s.a.addStart(f, 1, 5)
	s.a.write(f, 1, 7, returned, stage.Record{Text: "no refresh got through"})
	s.a.write(f, 1, 7, stage.Ended, stage.Record{Until: at(7)})
	s.a.write(f, 1, 7.1, finished, stage.Record{Lost: true})
	s.recordClaim(f, 1, "a", spent)
	_, violations := s.evidence().audit()
	wantViolation(t, violations, "")
}

// cut returns a copy of a life. If only is set, the copy has only the records about the given token. Otherwise, it has
// all the others.
func cut(l *life, token uint64, only bool) *life {
	part := *l
	part.Records = slices.DeleteFunc(slices.Clone(l.Records), func(r stage.Record) bool { return (r.Token == token) != only })
	if only {
		part.Name, part.Killed = "c", 0 // the third application
	}
	return &part
}
