package fsm_test

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// model is a second, simple implementation of the state machine. It uses slices and linear searches, has no indexes,
// and shares only types with the real one. The property test compares the two.
type model struct {
	term           uint64
	revision       uint64
	token          uint64
	cordonRevision uint64 // the revision of the last change to cordons
	settings       fsm.Settings
	largest        time.Duration

	definitions []fsm.StoredDefinition // sorted by name
	permits     []semaphore.Permit     // sorted by token
	claims      []semaphore.Claim
	requests    []fsm.Remembered // oldest first
	deletions   []deletion       // oldest first; edits of one batch are sorted by name
	cordons     []fsm.Cordon
	journal     []fsm.JournalEntry // oldest first
	retired     []string
	permitRev   map[string]uint64
	lowWater    map[string]time.Time

	bindings       []access.Binding // sorted by name
	accessRevision uint64           // the revision of the last change to bindings

	level      uint32
	drains     map[string][]semaphore.Drain // oldest first
	ends       map[string][]fsm.EditEnd     // oldest first
	sightings  []fsm.Sighting               // sorted by group and acquirer
	quarantine time.Duration

	// forgotten maps each name with remembered or forgotten requests to its mark. namesForgotten is the mark for all
	// other names.
	forgotten      map[string]uint64
	namesForgotten uint64

	entryNames       map[uint64][]string // the names in journal entries, by revision
	changesForgotten uint64
	endsForgotten    map[string]time.Time

	jobs      []modelJob  // oldest first
	report    work.Report // from the release being applied
	jobEvents []string    // job and task events of the current entry
}

type deletion struct {
	revision uint64
	name     string
}

func newModel() *model {
	return &model{
		settings: fsm.DefaultSettings(), largest: fsm.DefaultSettings().MaxDuration,
		permitRev: map[string]uint64{}, lowWater: map[string]time.Time{},
		level: 1, drains: map[string][]semaphore.Drain{}, ends: map[string][]fsm.EditEnd{},
		forgotten: map[string]uint64{}, entryNames: map[uint64][]string{}, endsForgotten: map[string]time.Time{},
	}
}

// apply applies cmd as an entry in the current term and returns the expected result.
func (m *model) apply(cmd fsm.Command) fsm.Result {
	r := m.do(cmd)
	m.bound()
	return r
}

func (m *model) do(cmd fsm.Command) fsm.Result {
	if fsm.Level(cmd) > m.level {
		return fsm.InvalidResult{}
	}
	switch c := cmd.(type) {
	case fsm.Grant:
		return m.grant(c)
	case fsm.Extend:
		if c.Duration < semaphore.MinDuration || c.Duration > m.largest {
			return fsm.InvalidResult{}
		}
		return m.onPermit(c.Token, func(p *semaphore.Permit) bool {
			return p.State == semaphore.Live && (p.Duration < c.Duration || p.Duration > c.Duration && c.Term == m.term)
		}, func(p *semaphore.Permit) {
			p.OldTokensInUse, p.Duration = p.OldTokensInUse && c.Duration > p.Duration, c.Duration
		})
	case fsm.Revoke:
		if invalidDrain(c.Drain) || c.UnsafeNow && c.Drain != 0 {
			return fsm.InvalidResult{}
		}
		if p := m.permit(c.Token); c.UnsafeNow && p != nil && p.State == semaphore.Live {
			e := fsm.JournalEntry{Kind: fsm.FreedUnsafely, Author: c.Author, Reason: c.Reason, At: c.At}
			return m.ended(m.end(p, semaphore.EndFreedUnsafely, semaphore.JobDone, 0, e))
		}
		return m.onPermit(c.Token, func(p *semaphore.Permit) bool {
			return p.State == semaphore.Live && (p.Stop == semaphore.NotStopping || c.Drain < p.StopOrder().Drain)
		}, func(p *semaphore.Permit) {
			p.Stop, p.Order = semaphore.StopRevoked, &semaphore.StopOrder{Reason: c.Reason, Revision: m.revision, Drain: c.Drain}
			stopped := *p
			m.note(fsm.JournalEntry{
				Kind: fsm.StoppingEvent, Semaphore: p.Semaphore, Permit: &stopped, Author: c.Author, Reason: c.Reason, At: c.At, Drain: c.Drain,
			})
		})
	case fsm.TakeOver:
		return m.takeOver(c)
	case fsm.SubmitJob, fsm.SubmitTasks, fsm.CancelJob, fsm.ChangeTasks, fsm.DeleteJob:
		return m.work(c)
	case fsm.Release:
		return m.release(c)
	case fsm.Expire:
		return m.expire(c)
	case fsm.Abandon:
		if c.Cooling < 0 || c.Cooling > m.largest {
			return fsm.InvalidResult{}
		}
		p := m.permit(c.Token)
		if p == nil || p.State != semaphore.Live || c.Term != m.term {
			return fsm.PermitResult{Permit: p}
		}
		return m.ended(m.end(p, semaphore.EndAbandoned, semaphore.JobNotRun, c.Cooling, fsm.JournalEntry{Kind: fsm.Abandoned}))
	case fsm.Clear:
		p := m.permit(c.Token)
		if p == nil || p.State != semaphore.Held {
			return fsm.PermitResult{Permit: p}
		}
		return m.ended(m.end(p, semaphore.EndCleared, semaphore.JobDone, 0, fsm.JournalEntry{Kind: fsm.Cleared, Author: c.Author, Reason: c.Reason, At: c.At}))
	case fsm.EndCooling:
		p := m.permit(c.Token)
		if p == nil || p.State != semaphore.Cooling || c.Term != m.term {
			return fsm.PermitResult{Permit: p}
		}
		m.revision++
		m.openClaim(p.Token)
		m.settleTask(p, p.Ended, semaphore.JobCutShort, 0, time.Time{})
		m.dropPermit(p.Token)
		return m.ended(p)
	case fsm.Cancel:
		return m.cancel(c)
	case fsm.EditBatch:
		return m.edit(c)
	case fsm.Pause:
		return m.pause(c)
	case fsm.Resume:
		return m.resume(c)
	case fsm.Undo:
		return m.undo(c)
	case fsm.SetCordon:
		request := modelEdit{fsm.EditCordon, c.RequestID, c.RequestHash, c.RequestRevision}
		if r := m.repeated(request, repeatedChange); r != nil {
			return r
		}
		if c.ID == "" || invalidDrain(c.Drain) {
			return fsm.InvalidResult{}
		}
		m.revision++
		now := fsm.Cordon{ID: c.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Until: c.Until, Author: c.Author, Reason: c.Reason, Revision: m.revision, Drain: c.Drain}
		m.putCordon(c.ID, &now, fsm.JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
		m.rememberEdit(request, fsm.EditResponse{Cordon: &now})
		return fsm.RevisionResult{Applied: true, Revision: m.revision, Cordon: &now}
	case fsm.Uncordon:
		request := modelEdit{fsm.EditUncordon, c.RequestID, c.RequestHash, c.RequestRevision}
		if r := m.repeated(request, repeatedChange); r != nil {
			return r
		}
		if c.Term != 0 && c.Term != m.term {
			return fsm.RevisionResult{}
		}
		i := slices.IndexFunc(m.cordons, func(o fsm.Cordon) bool { return o.ID == c.ID })
		if i < 0 || c.Revision != 0 && c.Revision != m.cordons[i].Revision {
			m.recordNoOp(request)
			return fsm.RevisionResult{}
		}
		m.revision++
		m.putCordon(c.ID, nil, fsm.JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
		m.rememberEdit(request, fsm.EditResponse{})
		return m.changed()
	case fsm.Forget:
		return m.forget(c)
	case fsm.Configure:
		bounds := c.Settings.Requests.OrDefault()
		if c.Settings.RememberedRequests == 0 || c.Settings.MaxDuration < semaphore.MinDuration || min(bounds.RequestBytes, bounds.EditBytes) < 2048 || c.Settings.JournalLifetime < 0 {
			return fsm.InvalidResult{}
		}
		if c.Settings == m.settings {
			return fsm.RevisionResult{}
		}
		m.revision++
		m.settings = c.Settings
		m.largest = max(m.largest, c.Settings.MaxDuration)
		m.bound()
		m.note(fsm.JournalEntry{Kind: fsm.Configured, Author: c.Author, Reason: c.Reason, At: c.At})
		return m.changed()
	case fsm.RetireMember:
		if c.ID == "" {
			return fsm.InvalidResult{}
		}
		if slices.Contains(m.retired, c.ID) {
			return fsm.RevisionResult{}
		}
		m.revision++
		m.retired = append(m.retired, c.ID)
		return m.changed()
	case fsm.RaiseFeatureLevel:
		if c.Level <= m.level {
			return fsm.RevisionResult{}
		}
		before := m.level
		m.level = c.Level
		m.revision++
		if before < 3 && m.level >= 3 {
			m.markChangesForgotten()
			m.namesForgotten = m.revision
			m.forgotten[""] = m.revision
			for name := range m.forgotten {
				m.forgotten[name] = m.revision
			}
		}
		return m.changed()
	case fsm.SetBinding, fsm.IssueToken, fsm.RevokeToken:
		return m.access(c)
	case fsm.Trim:
		return m.trimRequests(c)
	case fsm.ForgetFirings:
		return m.forgetFirings(c)
	case fsm.Sight:
		return m.sight(c)
	case fsm.EndDrain, fsm.Revert, fsm.NoteMissed, fsm.EndQuarantine:
		return m.timerCommand(c)
	}
	panic("the model does not support this command")
}

func (m *model) changed() fsm.Result { return fsm.RevisionResult{Applied: true, Revision: m.revision} }

func (m *model) ended(p *semaphore.Permit) fsm.Result {
	return fsm.PermitResult{Applied: true, Permit: p, Revision: m.revision}
}

// permit returns a copy of the permit.
func (m *model) permit(token uint64) *semaphore.Permit {
	for _, p := range m.permits {
		if p.Token == token {
			return &p
		}
	}
	return nil
}

func (m *model) own(sem string, id semaphore.Identity) *semaphore.Permit {
	for _, p := range m.permits {
		if p.Semaphore == sem && p.Identity == id && p.State != semaphore.Cooling {
			return &p
		}
	}
	return nil
}

func (m *model) definition(name string) *fsm.StoredDefinition {
	for i := range m.definitions {
		if m.definitions[i].Definition.Name == name {
			return &m.definitions[i]
		}
	}
	return nil
}

func (m *model) request(sem string, id semaphore.Identity, requestID string) *fsm.Remembered {
	for _, r := range slices.Backward(m.requests) { // the newest
		if requestID != "" && r.Semaphore == sem && r.Identity == id && r.RequestID == requestID {
			return &r
		}
	}
	return nil
}

func (m *model) endedPermit(token uint64) *fsm.Remembered {
	for _, r := range m.requests {
		if token != 0 && r.Token == token {
			return &r
		}
	}
	return nil
}

func (m *model) claim(sem string, f *semaphore.Firing) *semaphore.Claim {
	for _, c := range m.claims {
		if f != nil && c.Semaphore == sem && c.Firing == *f {
			return &c
		}
	}
	return nil
}

func (m *model) used(sem string) (weight uint64) {
	for _, p := range m.permits {
		if p.Semaphore == sem {
			weight += uint64(p.Weight)
		}
	}
	return weight
}

func (m *model) dropPermit(token uint64) {
	p := m.permit(token)
	m.permits = slices.DeleteFunc(m.permits, func(p semaphore.Permit) bool { return p.Token == token })
	m.permitRev[p.Semaphore] = m.revision
}

func (m *model) dropCordon(id string) *fsm.Cordon {
	for i, c := range m.cordons {
		if c.ID == id {
			m.cordons = slices.Delete(m.cordons, i, i+1)
			return &c
		}
	}
	return nil
}

func (m *model) permitRevision(name string) uint64 {
	if d := m.definition(name); d != nil && m.level >= 3 {
		return max(m.permitRev[name], d.CreatedRevision)
	}
	return m.permitRev[name]
}

func (m *model) grant(c fsm.Grant) fsm.Result {
	if c.Weight == 0 || c.Firing != nil && c.Worker {
		return fsm.InvalidResult{}
	}
	r := fsm.GrantResult{PermitRevision: m.permitRevision(c.Semaphore)}
	deny := func(reason semaphore.Reason) fsm.Result {
		r.Outcome, r.Decision = fsm.GrantDenied, semaphore.Decision{Outcome: semaphore.Denied, Reason: reason}
		return r
	}
	if r.Ended = m.request(c.Semaphore, c.Identity, c.RequestID); r.Ended != nil {
		r.Outcome = fsm.GrantRequestEnded
		if r.Ended.RequestHash != 0 && r.Ended.RequestHash != fsm.AcquisitionHash(c.Weight, c.Firing, c.Worker) {
			r.Outcome = fsm.GrantRequestReused
		}
		return r
	}
	own, def := m.own(c.Semaphore, c.Identity), m.definition(c.Semaphore)
	if own == nil || c.RequestID == "" || own.RequestID != c.RequestID {
		if c.RequestID != "" && c.RequestRevision != 0 && c.RequestRevision < m.forgottenMark(c.Semaphore) {
			r.Outcome, r.TooOld = fsm.GrantRequestTooOld, m.tooOld(c.Semaphore, c.RequestRevision)
			return r
		}
		if c.ExpectedRevision != nil && *c.ExpectedRevision != m.permitRevision(c.Semaphore) {
			r.Outcome = fsm.GrantRevisionChanged
			return r
		}
		if def != nil && (def.Version != c.DefinitionVersion || m.cordonRevision != c.CordonRevision) {
			r.Outcome = fsm.GrantChanged
			return r
		}
		if supersedes := uint64(0); m.level >= 3 {
			if own != nil && own.State == semaphore.Live {
				supersedes = own.Token
			}
			if supersedes != c.Supersedes {
				r.Outcome = fsm.GrantChanged
				return r
			}
		}
	}
	r.Permit = own
	stop := func(res fsm.Result, cause semaphore.StopCause) fsm.Result {
		g := res.(fsm.GrantResult)
		if own != nil && own.State == semaphore.Live {
			g.Decision.Stop = cause
		}
		return g
	}
	sameFiring := own != nil && (own.Firing == nil) == (c.Firing == nil) && (c.Firing == nil || *own.Firing == *c.Firing) &&
		m.carriesTask(own.Token) == c.Worker
	switch {
	case def == nil:
		return stop(deny(semaphore.NoSuchSemaphore), semaphore.StopNoLongerAdmitted)
	case def.Pause != nil && def.Pause.Stop:
		return stop(deny(semaphore.Paused), semaphore.StopPaused)
	case own != nil && own.State == semaphore.Held:
		return deny(semaphore.HeldForOperator)
	case own != nil && own.Stop != 0:
		return stop(deny(semaphore.Stopping), own.Stop)
	case own != nil && own.Weight == c.Weight && sameFiring && (m.level < 3 || c.RequestID != "" && own.RequestID == c.RequestID):
		r.Outcome, r.Decision = fsm.GrantHeld, semaphore.Decision{Outcome: semaphore.Refreshed}
		return r
	case own != nil && own.Weight == c.Weight && sameFiring && c.Firing != nil:
		g := deny(semaphore.FiringClaimed).(fsm.GrantResult)
		g.Decision.Claim = m.claim(c.Semaphore, c.Firing)
		return g
	case own != nil && own.Weight == c.Weight && sameFiring && c.Worker:
		return deny(semaphore.AlreadyHeld)
	case own != nil && own.Weight == c.Weight && sameFiring && m.quarantine > 0:
		r.Outcome, r.Permit = fsm.GrantQuarantined, nil
		return r
	case own != nil && own.Weight == c.Weight && sameFiring:
		return m.reacquire(c, own, def.Definition)
	case own != nil:
		return deny(semaphore.AlreadyHeld)
	case def.Pause != nil:
		return deny(semaphore.Paused)
	case c.Weight > def.Definition.Permits:
		return deny(semaphore.WeightExceedsPermits)
	}
	claim := m.claim(c.Semaphore, c.Firing)
	if maxAttempts := def.Definition.MaxAttempts; claim != nil && (claim.State != semaphore.ClaimOpen || maxAttempts > 0 && claim.Attempts >= maxAttempts) {
		reason := semaphore.FiringClaimed
		if claim.State == semaphore.ClaimDone || claim.State == semaphore.ClaimFailed {
			reason = semaphore.FiringDone
		}
		g := deny(reason).(fsm.GrantResult)
		g.Decision.Claim = claim
		return g
	}
	if low := m.lowWater[c.Semaphore]; c.Firing != nil && !c.Firing.Due.IsZero() && !low.IsZero() && !c.Firing.Due.After(low) {
		return deny(semaphore.FiringForgotten)
	}
	if j, _ := m.nextTask(c.Semaphore); c.Worker && j == nil {
		return deny(semaphore.NoTask)
	}
	if m.used(c.Semaphore)+uint64(c.Weight) > uint64(def.Definition.Permits) {
		return deny(semaphore.NoFreePermit)
	}
	if m.quarantine > 0 {
		r.Outcome = fsm.GrantQuarantined
		return r
	}
	m.revision++
	m.token++
	p := semaphore.Permit{
		Semaphore: c.Semaphore, Identity: c.Identity, Weight: c.Weight, Token: m.token, Duration: def.Definition.Duration, Firing: c.Firing,
		State: semaphore.Live, GrantedRevision: m.revision, GrantedNanos: nanos(c.At), RequestID: c.RequestID, Metadata: c.Metadata,
	}
	m.permits = append(m.permits, p)
	m.permitRev[c.Semaphore] = m.revision
	if c.Firing != nil {
		m.claims = slices.DeleteFunc(m.claims, func(open semaphore.Claim) bool { return claim != nil && open.Token == claim.Token })
		m.claims = append(m.claims, semaphore.Claim{
			Semaphore: c.Semaphore, Firing: *c.Firing, Token: m.token, Winner: c.Identity, State: semaphore.ClaimHeld, Revision: m.revision,
			At: c.At, Attempts: m.attempt(claim),
		})
	}
	var job *work.Job
	var task *work.Task
	if c.Worker {
		job, task = m.handOut(c.Semaphore, p.Token)
	}
	return fsm.GrantResult{
		Outcome: fsm.GrantGranted, Permit: &p, Job: job, Task: task, Decision: semaphore.Decision{Outcome: semaphore.Granted}, PermitRevision: m.revision,
	}
}

// onPermit applies change to the permit with the given token if matches returns true for it.
func (m *model) onPermit(token uint64, matches func(*semaphore.Permit) bool, change func(*semaphore.Permit)) fsm.Result {
	for i := range m.permits {
		if p := &m.permits[i]; p.Token == token && matches(p) {
			m.revision++
			change(p)
			return m.ended(m.permit(token))
		}
	}
	return fsm.PermitResult{Permit: m.permit(token)}
}

// end ends p and returns its new state, or its last state if it was removed.
func (m *model) end(p *semaphore.Permit, how semaphore.End, job semaphore.JobEnd, cooling time.Duration, e fsm.JournalEntry) *semaphore.Permit {
	m.revision++
	m.endClaim(p, how, job, cooling)
	m.settleTask(p, how, job, cooling, e.At)
	after := *p
	if cooling > 0 {
		after.OldTokensInUse = false
		after.State, after.Duration, after.Ended, after.Order = semaphore.Cooling, cooling, how, withoutDrain(after.Order)
		for i := range m.permits {
			if m.permits[i].Token == p.Token {
				m.permits[i] = after
			}
		}
		m.permitRev[p.Semaphore] = m.revision
	} else {
		m.dropPermit(p.Token)
	}
	m.remember(fsm.Remembered{
		Semaphore: p.Semaphore, Identity: p.Identity, RequestID: p.RequestID, RequestHash: fsm.AcquisitionHash(p.Weight, p.Firing, m.carriesTask(p.Token)), Outcome: how, Token: p.Token,
	})
	e.Semaphore, e.Permit = p.Semaphore, p
	m.note(e)
	m.submitterEnded(p.Token, e.At)
	return &after
}

func (m *model) note(e fsm.JournalEntry) {
	e.Revision = m.revision
	var change []int // indexes of the entries of the same change
	names := m.entryNames[m.revision]
	e.Ordinal = uint32(len(names))
	if m.settings.JournalPerSemaphore == 0 || m.settings.JournalTotal == 0 {
		return
	}
	m.entryNames[m.revision] = append(names, e.Semaphore)
	m.journal = append(m.journal, e)
	for i := range m.journal {
		if m.journal[i].Revision == e.Revision {
			change = append(change, i)
		}
	}
	if m.level >= 3 {
		whole := fsm.WholeChange{}
		if e.Change != nil {
			whole = *e.Change
		}
		if all := m.entryNames[m.revision]; len(all) > 1 {
			whole.Names = slices.Clone(all)
		}
		for _, i := range change {
			m.journal[i].Change = &whole
		}
	}
	m.bound()
	m.expireJournal(e.At)
}

// expireJournal forgets at most two edits and two run entries that are older than the journal lifetime.
func (m *model) expireJournal(now time.Time) {
	if m.level < 3 || now.IsZero() {
		return
	}
	for _, run := range []bool{false, true} {
		for range 2 {
			all := m.entryIndexes(run)
			i := slices.IndexFunc(all[:min(8, len(all))], func(i int) bool { return !m.journal[i].At.IsZero() })
			if i >= 0 && now.Sub(m.journal[all[i]].At) > cmp.Or(m.settings.JournalLifetime, fsm.DefaultJournalLifetime) {
				m.forgetEntry(all[0])
			}
		}
	}
	m.bound()
}

// entryIndexes returns the indexes of all run entries or of all edits in the journal.
func (m *model) entryIndexes(run bool) (all []int) {
	for i, e := range m.journal {
		if isRunEvent(e.Kind) == run {
			all = append(all, i)
		}
	}
	return all
}

func isRunEvent(kind fsm.EventKind) bool {
	return slices.Contains([]fsm.EventKind{fsm.Released, fsm.Expired, fsm.HeldEvent, fsm.Abandoned, fsm.SupersededEvent, fsm.MissedEvent, fsm.HeardEvent}, kind)
}

// forgetEntry drops a journal entry and updates the forgotten marks.
func (m *model) forgetEntry(i int) {
	e := m.journal[i]
	m.journal = slices.Delete(m.journal, i, i+1)
	if m.level < 3 {
		return
	}
	if e.Change == nil {
		m.changesForgotten = max(m.changesForgotten, e.Revision)
	}
	ends := slices.Contains([]fsm.EventKind{fsm.Released, fsm.Expired, fsm.Cleared, fsm.FreedUnsafely, fsm.SupersededEvent}, e.Kind)
	if last := m.endsForgotten[e.Semaphore]; ends && e.At.After(last) {
		m.endsForgotten[e.Semaphore] = e.At
	}
}

// boundJournal enforces the journal limits, first per name and then in total.
func (m *model) boundJournal() {
	if m.settings.JournalPerSemaphore == 0 || m.settings.JournalTotal == 0 {
		for len(m.journal) > 0 {
			m.forgetEntry(0)
		}
	}
	classOf := func(e fsm.JournalEntry, name string) string {
		if m.level >= 3 && isRunEvent(e.Kind) {
			return "run of " + name
		}
		return "edit of " + name
	}
	for _, group := range []struct {
		name  func(e fsm.JournalEntry) string
		limit uint32
	}{
		{func(e fsm.JournalEntry) string { return classOf(e, e.Semaphore) }, m.settings.JournalPerSemaphore},
		{func(e fsm.JournalEntry) string { return classOf(e, "any") }, m.settings.JournalTotal},
	} {
		count := map[string]uint32{}
		for i := len(m.journal) - 1; i >= 0; i-- {
			if name := group.name(m.journal[i]); count[name] == group.limit {
				m.forgetEntry(i)
			} else {
				count[name]++
			}
		}
	}
}

// markChangesForgotten raises changesForgotten to cover changes that may have lost entries below level 3, where a
// change's entries were not counted.
func (m *model) markChangesForgotten() {
	count := map[string]uint32{}
	for _, e := range m.journal {
		count[e.Semaphore]++
	}
	seen := map[string]bool{}
	for _, e := range m.journal {
		key := fmt.Sprint(isRunEvent(e.Kind), e.Semaphore)
		if count[e.Semaphore] >= m.settings.JournalPerSemaphore && !seen[key] {
			m.changesForgotten = max(m.changesForgotten, e.Revision)
		}
		seen[key] = true
	}
	if len(m.journal) > 0 && uint32(len(m.journal)) >= m.settings.JournalTotal {
		m.changesForgotten = max(m.changesForgotten, m.journal[0].Revision)
	}
}

func (m *model) boundDeletions() {
	slices.SortFunc(m.deletions, func(a, b deletion) int {
		return cmp.Or(cmp.Compare(a.revision, b.revision), cmp.Compare(a.name, b.name))
	})
	m.deletions = newest(m.deletions, m.settings.RememberedDeletions)
}

// bound enforces all limits and forgets names without data.
func (m *model) bound() {
	m.boundJournal()
	m.boundRequests()
	m.boundDeletions()
	for _, name := range modelNames {
		if !m.hasData(name) {
			delete(m.permitRev, name)
			delete(m.lowWater, name)
			delete(m.endsForgotten, name)
		}
	}
	m.dropUnusedMarks()
}

// hasData reports whether a name has any data.
func (m *model) hasData(name string) bool {
	return m.definition(name) != nil || len(m.drains[name]) > 0 ||
		slices.ContainsFunc(m.permits, func(p semaphore.Permit) bool { return p.Semaphore == name }) ||
		slices.ContainsFunc(m.claims, func(c semaphore.Claim) bool { return c.Semaphore == name }) ||
		slices.ContainsFunc(m.journal, func(e fsm.JournalEntry) bool { return e.Semaphore == name })
}

func newest[T any](list []T, limit uint32) []T { return list[max(0, len(list)-int(limit)):] }

func (m *model) release(c fsm.Release) fsm.Result {
	if c.Cooling < 0 || c.Cooling > m.largest {
		return fsm.InvalidResult{}
	}
	if len(c.Failure) > 256 {
		return fsm.InvalidResult{}
	}
	if m.hasInvalidResult(c) {
		return fsm.InvalidResult{}
	}
	p := m.permit(c.Token)
	m.report = work.Report{Result: c.Result, Failure: c.Failure}
	defer func() { m.report = work.Report{} }()
	if p != nil && p.State == semaphore.Live {
		after := m.end(p, semaphore.EndReleased, c.Job, c.Cooling, fsm.JournalEntry{Kind: fsm.Released, At: c.At})
		for i := range m.claims {
			if m.claims[i].Token == c.Token && m.claims[i].State == semaphore.ClaimFailed {
				m.claims[i].Failure = c.Failure
			}
		}
		return m.reported(c, fsm.ReleaseResult{Released: true, Permit: after, Revision: m.revision})
	}
	r := fsm.ReleaseResult{Permit: p, Ended: m.endedPermit(c.Token)}
	for i := range m.claims {
		if claim := &m.claims[i]; claim.Token == c.Token && claim.State != semaphore.ClaimDone && claim.State != semaphore.ClaimFailed && completedState(c.Job) != 0 {
			m.revision++
			claim.State, claim.Failure, claim.Revision, r.Revision = completedState(c.Job), c.Failure, m.revision, m.revision
		}
	}
	if r.Revision == 0 {
		r.Revision = m.settleLate(c)
	}
	return m.reported(c, r)
}

func (m *model) expire(c fsm.Expire) fsm.Result {
	if c.Cooling < 0 || c.Cooling > m.largest {
		return fsm.InvalidResult{}
	}
	p := m.permit(c.Token)
	if p == nil || p.State != semaphore.Live || c.Term != m.term {
		return fsm.PermitResult{Permit: p}
	}
	if def := m.definition(p.Semaphore); def == nil || def.Definition.OnExpiry != semaphore.OnExpiryHold {
		return m.ended(m.end(p, semaphore.EndExpired, semaphore.JobDone, c.Cooling, fsm.JournalEntry{Kind: fsm.Expired, At: c.At}))
	}
	return m.onPermit(c.Token, func(*semaphore.Permit) bool { return true }, func(p *semaphore.Permit) {
		p.State, p.Order, p.OldTokensInUse = semaphore.Held, withoutDrain(p.Order), false
		held := *p
		m.permitRev[p.Semaphore] = m.revision
		m.note(fsm.JournalEntry{Kind: fsm.HeldEvent, Semaphore: p.Semaphore, Permit: &held, At: c.At})
	})
}

func (m *model) reacquire(c fsm.Grant, own *semaphore.Permit, def *semaphore.Definition) fsm.Result {
	m.revision++
	m.token++
	m.remember(fsm.Remembered{
		Semaphore: own.Semaphore, Identity: own.Identity, RequestID: own.RequestID, RequestHash: fsm.AcquisitionHash(own.Weight, own.Firing, false),
		Outcome: semaphore.EndSuperseded, Token: own.Token,
	})
	m.note(fsm.JournalEntry{Kind: fsm.SupersededEvent, Semaphore: own.Semaphore, Permit: own, At: c.At})
	now := *own
	now.Token, now.RequestID, now.Metadata = m.token, c.RequestID, c.Metadata
	if def.Duration > now.Duration {
		now.Duration = def.Duration
	}
	if !c.Replaces {
		now.OldTokensInUse = true
	}
	m.dropPermit(own.Token)
	m.permits = append(m.permits, now)
	m.submitterSuperseded(own.Token, now.Token)
	return fsm.GrantResult{
		Outcome: fsm.GrantReacquired, Permit: &now, Superseded: own, Decision: semaphore.Decision{Outcome: semaphore.Reacquired}, PermitRevision: m.revision,
	}
}

func (m *model) cancel(c fsm.Cancel) fsm.Result {
	if c.RequestID == "" || c.Cooling < 0 || c.Cooling > m.largest {
		return fsm.InvalidResult{}
	}
	if ended := m.request(c.Semaphore, c.Identity, c.RequestID); ended != nil {
		return fsm.CancelResult{Ended: ended}
	}
	if p := m.own(c.Semaphore, c.Identity); p != nil && p.State == semaphore.Live && p.RequestID == c.RequestID {
		if m.level >= 3 && p.Token != c.Token {
			return fsm.CancelResult{Changed: true}
		}
		after := m.end(p, semaphore.EndCancelled, semaphore.JobNotRun, c.Cooling, fsm.JournalEntry{Kind: fsm.Abandoned})
		return fsm.CancelResult{ReturnedPermit: after, Revision: m.revision}
	}
	m.revision++
	m.remember(fsm.Remembered{Semaphore: c.Semaphore, Identity: c.Identity, RequestID: c.RequestID, Outcome: semaphore.EndCancelled})
	return fsm.CancelResult{Revision: m.revision}
}

func (m *model) edit(c fsm.EditBatch) fsm.Result {
	request := modelEdit{fsm.EditDefinitions, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := m.repeated(request, func(r fsm.Remembered) fsm.Result {
		a := r.OriginalResponse()
		return fsm.EditResult{Revision: r.Revision, Skipped: a.Skipped, Repeated: true, Definition: a.Definition, Permits: a.Permits}
	}); r != nil {
		return r
	}
	if invalidDrain(c.Drain) {
		return fsm.InvalidResult{}
	}
	for i, change := range c.Changes {
		if !c.Until.IsZero() && (change.Kind != fsm.Replace || len(m.ends[change.Name]) == 16) {
			return fsm.InvalidResult{}
		}
		for _, earlier := range c.Changes[:i] {
			if earlier.Name == change.Name {
				return fsm.InvalidResult{}
			}
		}
		if change.Definition != nil && (change.Definition.Duration < semaphore.MinDuration || change.Definition.Duration > m.settings.MaxDuration) {
			return fsm.InvalidResult{}
		}
	}
	var do []fsm.Change
	var skipped []string
	for i, change := range c.Changes {
		conflict := fsm.Conflict{Index: i, Name: change.Name}
		if d := m.definition(change.Name); d != nil {
			current := *d
			conflict.Current = &current
		}
		exists := conflict.Current != nil
		if change.Kind == fsm.Declare && (exists || m.wasDeleted(change.Name)) {
			skipped = append(skipped, change.Name)
			continue
		}
		do = append(do, change)
		switch {
		case change.Kind == fsm.Create && exists:
			conflict.Kind = fsm.ConflictExists
		case (change.Kind == fsm.Replace || change.Kind == fsm.Delete) && !exists:
			conflict.Kind = fsm.ConflictAbsent
		case (change.Kind == fsm.Replace || change.Kind == fsm.Delete) && conflict.Current.Version != change.ExpectedVersion:
			conflict.Kind = fsm.ConflictStale
		}
		if conflict.Kind != 0 {
			return fsm.EditResult{Conflict: &conflict}
		}
	}
	if len(do) == 0 {
		return fsm.EditResult{Skipped: skipped}
	}
	m.revision++
	for _, change := range c.Changes {
		if slices.Contains(skipped, change.Name) && (m.level >= 4 || m.definition(change.Name) != nil || m.wasDeleted(change.Name)) {
			continue
		}
		m.change(c, fsm.UndoEdit{Change: change}, fsm.Undo{})
	}
	answer := fsm.EditResponse{Skipped: skipped}
	if len(c.Changes) == 1 {
		if d := m.definition(c.Changes[0].Name); d != nil {
			now := *d
			answer.Definition = &now
		} else {
			for _, p := range m.permits {
				if p.Semaphore == c.Changes[0].Name {
					answer.Permits++
				}
			}
		}
	}
	m.rememberEdit(request, answer)
	return fsm.EditResult{Revision: m.revision, Skipped: skipped, Definition: answer.Definition, Permits: answer.Permits}
}

// change applies one change from a batch or an undo.
func (m *model) change(c fsm.EditBatch, change fsm.UndoEdit, undo fsm.Undo) {
	e := fsm.JournalEntry{Kind: fsm.Created, Semaphore: change.Name, Author: c.Author, Reason: c.Reason, At: c.At}
	details := fsm.Details{RestoredEnds: change.RestoredEnds, Undoes: undo.Change}
	e.Change = modelWholeChange(undo)
	now := fsm.StoredDefinition{Definition: change.Definition, Version: m.revision, CreatedRevision: m.revision, UpdatedBy: c.Author, UpdatedAt: c.At, Reason: c.Reason, Pause: m.renewed(change.Pause)}
	e.Pause = now.Pause
	if old := m.definition(change.Name); old != nil {
		e.Kind, e.Before, e.Drain, details.Until = fsm.Replaced, old.Definition, c.Drain, c.Until
		now.CreatedRevision, now.Pause = old.CreatedRevision, old.Pause
	}
	if change.Definition != nil && change.Definition.Misfire != semaphore.MisfireSkip {
		if now.MisfiresFrom = c.At; e.Before != nil && e.Before.Misfire == change.Definition.Misfire {
			now.MisfiresFrom = m.definition(change.Name).MisfiresFrom
		}
	}
	m.definitions = slices.DeleteFunc(m.definitions, func(d fsm.StoredDefinition) bool { return d.Definition.Name == change.Name })
	m.deletions = slices.DeleteFunc(m.deletions, func(d deletion) bool { return d.name == change.Name })
	if change.Kind == fsm.Delete {
		e.Kind = fsm.Deleted
		if m.level >= 2 {
			e.Pause = now.Pause
		}
		m.deletions = append(m.deletions, deletion{m.revision, change.Name})
		m.boundDeletions()
	} else {
		e.After = change.Definition
		m.definitions = append(m.definitions, now)
	}
	details.RemovedEnds = m.schedule(c, change, e.Before)
	m.note(e.With(details))
}

func (m *model) wasDeleted(name string) bool {
	return slices.ContainsFunc(m.deletions, func(d deletion) bool { return d.name == name })
}

func (m *model) invalidNames(names []string) bool {
	for i, name := range names {
		if m.definition(name) == nil || slices.Contains(names[:i], name) {
			return true
		}
	}
	return len(names) == 0
}

func (m *model) pause(c fsm.Pause) fsm.Result {
	request := modelEdit{fsm.EditPause, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := m.repeated(request, repeatedChange); r != nil {
		return r
	}
	if m.invalidNames(c.Names) || invalidDrain(c.Drain) || c.Drain > 0 && !c.Stop {
		return fsm.InvalidResult{}
	}
	var names []string
	for _, name := range c.Names {
		if !c.Keep || m.definition(name).Pause == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		m.recordNoOp(request)
		return fsm.RevisionResult{}
	}
	m.revision++
	for _, name := range names {
		p := &semaphore.Pause{Reason: c.Reason, Until: c.Until, Stop: c.Stop, Revision: m.revision, Author: c.Author, Drain: c.Drain}
		m.putPause(name, p, fsm.JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	}
	m.rememberEdit(request, fsm.EditResponse{Names: names})
	return fsm.RevisionResult{Applied: true, Revision: m.revision, Names: names}
}

func (m *model) resume(c fsm.Resume) fsm.Result {
	request := modelEdit{fsm.EditResume, c.RequestID, c.RequestHash, c.RequestRevision}
	if r := m.repeated(request, repeatedChange); r != nil {
		return r
	}
	if c.Term == 0 && m.invalidNames(c.Names) && (len(c.Names) > 0 || c.RequestID == "" || m.level < 3) {
		return fsm.InvalidResult{}
	}
	if c.Term != 0 && c.Term != m.term {
		return fsm.RevisionResult{}
	}
	var resumed []string
	for _, name := range c.Names {
		d := m.definition(name)
		if d == nil || d.Pause == nil {
			continue
		}
		if c.Revision != 0 && c.Revision != d.Pause.Revision && (c.Term != 0 || d.Pause.Change == 0 || c.Revision != d.Pause.Change) {
			continue
		}
		if len(resumed) == 0 {
			m.revision++
		}
		resumed = append(resumed, name)
		m.putPause(name, nil, fsm.JournalEntry{Author: c.Author, Reason: c.Reason, At: c.At})
	}
	if len(resumed) == 0 {
		m.recordNoOp(request)
		return fsm.RevisionResult{}
	}
	m.rememberEdit(request, fsm.EditResponse{Names: resumed})
	return fsm.RevisionResult{Applied: true, Revision: m.revision, Names: resumed}
}

func (m *model) forget(c fsm.Forget) fsm.Result {
	known := m.definition(c.Semaphore) != nil ||
		slices.ContainsFunc(m.claims, func(claim semaphore.Claim) bool { return claim.Semaphore == c.Semaphore })
	if c.Term != m.term || !known {
		return fsm.RevisionResult{}
	}
	before := len(m.claims)
	m.claims = slices.DeleteFunc(m.claims, func(claim semaphore.Claim) bool {
		if claim.Semaphore != c.Semaphore || claim.State == semaphore.ClaimHeld {
			return false
		}
		if slices.ContainsFunc(c.Firings, func(f semaphore.Firing) bool { return f.Equal(&claim.Firing) }) {
			return true
		}
		if claim.Firing.Due.IsZero() {
			return slices.Contains(c.Names, claim.Firing.Name)
		}
		return !c.UpTo.IsZero() && !claim.Firing.Due.After(c.UpTo)
	})
	raises := c.UpTo.After(m.lowWater[c.Semaphore])
	if len(m.claims) == before && !raises {
		return fsm.RevisionResult{}
	}
	m.revision++
	if raises {
		m.lowWater[c.Semaphore] = c.UpTo
	}
	return m.changed()
}
