package fsm

import (
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
)

// This file converts snapshot records. Readers check each record separately; restore.go checks that the records are
// consistent with each other.

// recordKind returns the field number of a record's kind, which determines the order of the kinds, or 0 if the kind is
// unknown.
func recordKind(r *logv1.Record) int {
	m := r.ProtoReflect()
	if kind := m.WhichOneof(m.Descriptor().Oneofs().Get(0)); kind != nil {
		return int(kind.Number())
	}
	return 0
}

func headerToProto(s *State) *logv1.Header {
	return &logv1.Header{
		Format: snapshotFormat, ClusterId: s.clusterID, AppliedIndex: s.index, AppliedTerm: s.term,
		LastToken: s.lastToken, LastRevision: s.revision, CordonRevision: s.cordonRevision, FeatureLevel: s.featureLevel,
		Settings: settingsToProto(s.settings), LargestDuration: int64(s.largestDuration), Quarantine: int64(s.quarantine),
		HistoryBegins: unixNanos(s.historyBegins), EditsForgotten: s.Forgotten(""), NamesForgotten: s.namesForgotten,
		ChangesForgotten: s.changesForgotten, AccessRevision: s.accessRevision,
	}
}

// header reads the header record into s.
func (r *reader) header(in *logv1.Header, s *State) {
	s.clusterID, s.index, s.term = in.GetClusterId(), in.GetAppliedIndex(), in.GetAppliedTerm()
	s.lastToken, s.revision, s.cordonRevision = in.GetLastToken(), in.GetLastRevision(), in.GetCordonRevision()
	s.featureLevel, s.rules = in.GetFeatureLevel(), s.index
	s.settings = r.settings(in.GetSettings())
	s.largestDuration = duration(in.GetLargestDuration())
	s.quarantine, s.historyBegins = duration(in.GetQuarantine()), timeFromProto(in.GetHistoryBegins())
	if s.changesForgotten = in.GetChangesForgotten(); s.changesForgotten != 0 || s.settings.JournalLifetime != 0 {
		r.requires(3)
	}
	if s.quarantine != 0 || in.GetHistoryBegins() != 0 {
		r.requires(2)
	}
	if s.accessRevision = in.GetAccessRevision(); s.accessRevision != 0 {
		r.requires(4)
	}
}

// unixNanos converts a time whose range has already been checked. It returns 0 for the zero time.
func unixNanos(t time.Time) int64 {
	var w writer
	return w.time(t)
}

func (w *writer) definition(s *StoredDefinition) *logv1.StoredDefinition {
	return &logv1.StoredDefinition{
		Definition: definitionToProto(s.Definition), Version: s.Version, CreatedRevision: s.CreatedRevision,
		UpdatedBy: s.UpdatedBy, UpdatedAt: w.time(s.UpdatedAt), Reason: s.Reason, Pause: w.pause(s.Pause),
		MisfiresFrom: w.time(s.MisfiresFrom),
	}
}

func (r *reader) storedDefinition(in *logv1.StoredDefinition) *StoredDefinition {
	out := &StoredDefinition{
		Definition: r.definition(in.GetDefinition()), Version: in.GetVersion(), CreatedRevision: in.GetCreatedRevision(),
		UpdatedBy: in.GetUpdatedBy(), UpdatedAt: timeFromProto(in.GetUpdatedAt()), Reason: in.GetReason(),
		Pause: r.pause(in.GetPause()), MisfiresFrom: timeFromProto(in.GetMisfiresFrom()),
	}
	if d := out.Definition; d == nil || d.Name == "" {
		r.fail("its definition is missing or has no name")
	} else {
		// The other rules were checked when the definition was stored, by the version that stored it.
		r.enum(uint32(d.OnExpiry), uint32(semaphore.OnExpiryFree), uint32(semaphore.OnExpiryHold), "on_expiry")
		r.enum(uint32(d.FiringOnLoss), uint32(semaphore.FiringSpent), uint32(semaphore.FiringFree), "firing_on_loss")
	}
	return out
}

func (w *writer) pause(p *semaphore.Pause) *logv1.StoredPause {
	if p == nil {
		return nil
	}
	return &logv1.StoredPause{Reason: p.Reason, Until: w.time(p.Until), Stop: p.Stop, Revision: p.Revision, Author: p.Author, Drain: int64(p.Drain), Change: p.Change}
}

func (r *reader) pause(in *logv1.StoredPause) *semaphore.Pause {
	out := pauseFromProto(in)
	if out == nil {
		return nil
	}
	r.drain(in.GetDrain())
	r.origin(out.Change)
	if out.Drain > 0 && !out.Stop {
		r.fail("a pause has a drain but does not stop holders")
	}
	return out
}

// pauseFromProto reads a pause from a command without validating it, because apply does that. The same applies to
// cordonFromProto and endFromProto.
func pauseFromProto(in *logv1.StoredPause) *semaphore.Pause {
	if in == nil {
		return nil
	}
	return &semaphore.Pause{
		Reason: in.GetReason(), Until: timeFromProto(in.GetUntil()), Stop: in.GetStop(), Revision: in.GetRevision(), Author: in.GetAuthor(),
		Drain: duration(in.GetDrain()), Change: in.GetChange(),
	}
}

func (w *writer) permit(p *semaphore.Permit) *logv1.StoredPermit {
	if p == nil {
		return nil
	}
	order := p.StopOrder()
	return &logv1.StoredPermit{
		Semaphore: p.Semaphore, Identity: identityToProto(p.Identity), Weight: p.Weight, Token: p.Token, Duration: int64(p.Duration),
		Firing: w.firing(p.Firing), State: uint32(p.State), Stop: uint32(p.Stop), StopReason: order.Reason, StopRevision: order.Revision,
		GrantedRevision: p.GrantedRevision, GrantedAt: p.GrantedNanos, RequestId: p.RequestID,
		Metadata: metadataToProto(p.Metadata), Ended: uint32(p.Ended), StopDrain: int64(order.Drain), Owes: p.OldTokensInUse,
	}
}

func (r *reader) permit(in *logv1.StoredPermit) *semaphore.Permit {
	if in == nil {
		return nil
	}
	out := &semaphore.Permit{
		Semaphore: in.GetSemaphore(), Identity: r.identity(in.GetIdentity()), Weight: in.GetWeight(), Token: in.GetToken(),
		Duration: duration(in.GetDuration()), OldTokensInUse: in.GetOwes(), Firing: r.firing(in.GetFiring()),
		State:           semaphore.PermitState(r.enum(in.GetState(), uint32(semaphore.Live), uint32(semaphore.Cooling), "permit state")),
		Stop:            semaphore.StopCause(r.enum(in.GetStop(), 0, uint32(semaphore.StopTaskCancelled), "stop cause")),
		GrantedRevision: in.GetGrantedRevision(), GrantedNanos: in.GetGrantedAt(), RequestID: in.GetRequestId(),
		Metadata: r.labels(in.GetMetadata()).Map(),
		Ended:    semaphore.End(r.enum(in.GetEnded(), 0, uint32(semaphore.EndCleared), "permit end")),
	}
	if out.OldTokensInUse {
		r.requires(3)
		if out.State != semaphore.Live || out.Firing != nil {
			r.fail("permit %d has superseded another token, but is not live or has a firing", out.Token)
		}
	}
	if out.Stop == semaphore.StopTaskCancelled {
		r.requires(4)
	}
	order := semaphore.StopOrder{Reason: in.GetStopReason(), Revision: in.GetStopRevision(), Drain: r.drain(in.GetStopDrain())}
	if order != (semaphore.StopOrder{}) {
		stored := order // allocated only for permits with a stop order
		out.Order = &stored
	}
	if order.Drain > 0 && (out.Stop == semaphore.NotStopping || out.State != semaphore.Live) {
		r.fail("permit %d has a drain but its holder is not required to stop", out.Token)
	}
	return out
}

// origin raises the feature level that the snapshot requires if the object was restored by an undo.
func (r *reader) origin(change uint64) {
	if change != 0 {
		r.requires(2)
	}
}

// drain reads and checks the duration of a drain.
func (r *reader) drain(n int64) time.Duration {
	if n != 0 {
		r.requires(2)
	}
	if n < 0 || duration(n) > MaxDrain {
		r.fail("the drain %v is not between 0 and %v", duration(n), MaxDrain)
	}
	return duration(n)
}

func (w *writer) claim(c *semaphore.Claim) *logv1.StoredClaim {
	return &logv1.StoredClaim{
		Semaphore: c.Semaphore, Firing: w.firing(&c.Firing), Token: c.Token, Winner: identityToProto(c.Winner),
		State: uint32(c.State), Revision: c.Revision, At: w.time(c.At), Failure: c.Failure, Attempts: c.Attempts,
	}
}

func (r *reader) claim(in *logv1.StoredClaim) *semaphore.Claim {
	c := &semaphore.Claim{
		Semaphore: in.GetSemaphore(), Firing: r.requiredFiring(in.GetFiring()), Token: in.GetToken(), Winner: r.identity(in.GetWinner()),
		State:    semaphore.ClaimState(r.enum(in.GetState(), uint32(semaphore.ClaimHeld), uint32(semaphore.ClaimOpen), "claim state")),
		Revision: in.GetRevision(), At: timeFromProto(in.GetAt()), Failure: in.GetFailure(), Attempts: in.GetAttempts(),
	}
	switch c.State {
	case semaphore.ClaimHeld, semaphore.ClaimDone, semaphore.ClaimSpent:
	case semaphore.ClaimFailed, semaphore.ClaimCutShort, semaphore.ClaimOpen:
		r.requires(4)
	default:
		r.fail("unknown claim state %d", in.GetState())
	}
	if c.Attempts != 0 || c.Failure != "" {
		r.requires(4)
	}
	return c
}

func (w *writer) firings(c *FiringsChange) *logv1.FiringsChange {
	if c == nil {
		return nil
	}
	return &logv1.FiringsChange{Claims: each(c.Claims, w.claim), LowWaterBefore: w.time(c.MarkBefore), LowWaterAfter: w.time(c.MarkAfter)}
}

func (r *reader) firings(in *logv1.FiringsChange) *FiringsChange {
	if in == nil {
		return nil
	}
	r.requires(3)
	return &FiringsChange{
		Claims: each(in.GetClaims(), r.claim), MarkBefore: timeFromProto(in.GetLowWaterBefore()), MarkAfter: timeFromProto(in.GetLowWaterAfter()),
	}
}

func (w *writer) cordon(c *Cordon) *logv1.StoredCordon {
	if c == nil {
		return nil
	}
	return &logv1.StoredCordon{
		Id: c.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Until: w.time(c.Until),
		Author: c.Author, Reason: c.Reason, Revision: c.Revision, Drain: int64(c.Drain), Change: c.Change,
	}
}

func (r *reader) cordon(in *logv1.StoredCordon) *Cordon {
	out := cordonFromProto(in)
	if out != nil {
		r.drain(in.GetDrain())
		r.origin(out.Change)
	}
	return out
}

func cordonFromProto(in *logv1.StoredCordon) *Cordon {
	if in == nil {
		return nil
	}
	return &Cordon{
		ID: in.GetId(), GroupPattern: in.GetGroupPattern(), AcquirerPattern: in.GetAcquirerPattern(), Until: timeFromProto(in.GetUntil()),
		Author: in.GetAuthor(), Reason: in.GetReason(), Revision: in.GetRevision(), Drain: duration(in.GetDrain()), Change: in.GetChange(),
	}
}

// outcomeEdited is the outcome of a remembered edit; other requests store a semaphore.End in that field. It is frozen
// because it is stored in snapshots.
const outcomeEdited = 6

func (w *writer) request(m *Remembered) *logv1.StoredRequest {
	out := &logv1.StoredRequest{
		Semaphore: m.Semaphore, Identity: identityToProto(m.Identity), RequestId: m.RequestID, Outcome: uint32(m.Outcome),
		Token: m.Token, Revision: m.Revision, Edit: uint32(m.Edit), RequestHash: m.RequestHash,
	}
	if a := m.Response; a != nil {
		out.Skipped, out.NoOp, out.Names, out.Permits, out.Cordon = a.Skipped, a.NoOp, a.Names, a.Permits, w.cordon(a.Cordon)
		out.Firings = w.firings(a.Firings)
		if a.Definition != nil {
			out.Definition = w.definition(a.Definition)
		}
	}
	if m.Semaphore == "" {
		out.Outcome = outcomeEdited
	}
	return out
}

func (r *reader) request(in *logv1.StoredRequest) *Remembered {
	out := &Remembered{
		Semaphore: in.GetSemaphore(), Identity: r.identity(in.GetIdentity()), RequestID: in.GetRequestId(),
		Token: in.GetToken(), Revision: in.GetRevision(), RequestHash: in.GetRequestHash(),
		Edit: EditKind(r.enum(in.GetEdit(), uint32(EditDefinitions), uint32(EditForgetFirings), "edit kind")),
	}
	outcome := r.enum(in.GetOutcome(), uint32(semaphore.EndReleased), uint32(semaphore.EndSuperseded), "request outcome")
	if outcome != outcomeEdited {
		out.Outcome = semaphore.End(outcome)
	}
	if out.Outcome == semaphore.EndFreedUnsafely || out.Edit != EditDefinitions {
		r.requires(2)
	}
	if out.Outcome == semaphore.EndSuperseded || out.Edit == EditForgetFirings {
		r.requires(3)
	}
	if out.Edit != EditDefinitions && (out.Semaphore != "" || len(in.GetSkipped()) > 0) {
		r.fail("it lists definitions but does not edit any")
	}
	out.Response = r.editResponse(in)
	if (outcome == outcomeEdited) != (out.Semaphore == "") {
		r.fail("the outcome is invalid for a request for semaphore %q", out.Semaphore)
	}
	if out.RequestID == "" && out.Token == 0 {
		r.fail("it has neither a request id nor a token")
	}
	return out
}

// editResponse reads the response to an edit.
func (r *reader) editResponse(in *logv1.StoredRequest) *EditResponse {
	out := EditResponse{
		NoOp: in.GetNoOp(), Names: in.GetNames(), Skipped: in.GetSkipped(), Permits: in.GetPermits(), Cordon: r.cordon(in.GetCordon()),
		Firings: r.firings(in.GetFirings()),
	}
	if in.GetDefinition() != nil {
		out.Definition = r.storedDefinition(in.GetDefinition())
	}
	level3 := out
	level3.Skipped = nil
	if in.GetRequestHash() != 0 || level3.stored() != nil {
		r.requires(3)
	}
	switch kind := EditKind(in.GetEdit()); {
	case out.stored() != nil && in.GetSemaphore() != "",
		len(out.Names) > 0 && kind != EditPause && kind != EditResume,
		(out.Definition != nil || out.Permits > 0) && kind != EditDefinitions,
		out.Cordon != nil && kind != EditCordon,
		out.Firings != nil && kind != EditForgetFirings,
		out.NoOp && (!kind.mayBeNoOp() || len(out.Names) > 0 || out.Firings != nil):
		r.fail("a request has a response to a different kind of request")
	}
	return out.stored()
}

// journal writes an entry. The first entry of a change also carries the data about the whole change.
func (w *writer) journal(e *JournalEntry, first bool) *logv1.JournalEntry {
	more := e.Details()
	out := &logv1.JournalEntry{
		Revision: e.Revision, Ordinal: e.Ordinal, Semaphore: e.Semaphore, Kind: uint32(e.Kind), Author: e.Author, Reason: e.Reason,
		At: w.time(e.At), Before: definitionToProto(e.Before), After: definitionToProto(e.After), Permit: w.permit(e.Permit),
		Cordon: w.cordon(e.Cordon), Pause: w.pause(e.Pause),
		Drain: int64(e.Drain), Missed: uint32(e.Missed), Until: w.time(more.Until), PauseBefore: w.pause(more.PauseBefore),
		CordonBefore: w.cordon(more.CordonBefore), RemovedEnds: each(more.RemovedEnds, w.end), RestoredEnds: each(more.RestoredEnds, w.end), Undoes: more.Undoes,
		Firings: w.firings(more.Firings), BindingBefore: w.binding(more.BindingBefore), BindingAfter: w.binding(more.BindingAfter),
	}
	if whole := e.Change; whole != nil {
		out.Entries = uint32(max(1, len(whole.Names)))
		if first && (len(whole.Names) > 0 || len(whole.AlsoUndoes) > 0 || whole.Partial) {
			out.Change = &logv1.JournalChange{Names: whole.Names, AlsoUndoes: whole.AlsoUndoes, Partial: whole.Partial}
		}
	}
	return out
}

func (r *reader) journal(in *logv1.JournalEntry) *JournalEntry {
	out := JournalEntry{
		Revision: in.GetRevision(), Ordinal: in.GetOrdinal(), Semaphore: in.GetSemaphore(),
		Kind:   r.journalKind(in.GetKind()),
		Author: in.GetAuthor(), Reason: in.GetReason(), At: timeFromProto(in.GetAt()),
		Before: r.definition(in.GetBefore()), After: r.definition(in.GetAfter()), Permit: r.permit(in.GetPermit()),
		Cordon: r.cordon(in.GetCordon()), Pause: r.pause(in.GetPause()),
		Drain: r.drain(in.GetDrain()), Missed: r.missed(in.GetMissed()),
	}.With(Details{
		Until: timeFromProto(in.GetUntil()), PauseBefore: r.pause(in.GetPauseBefore()), CordonBefore: r.cordon(in.GetCordonBefore()),
		RemovedEnds: each(in.GetRemovedEnds(), r.end), RestoredEnds: each(in.GetRestoredEnds(), r.end), Undoes: in.GetUndoes(),
		Firings: r.firings(in.GetFirings()), BindingBefore: r.binding(in.GetBindingBefore()), BindingAfter: r.binding(in.GetBindingAfter()),
	})
	switch whole := in.GetChange(); {
	case whole != nil:
		r.requires(3)
		out.Change = &WholeChange{Names: whole.GetNames(), AlsoUndoes: whole.GetAlsoUndoes(), Partial: whole.GetPartial()}
		for i, name := range out.Change.Names {
			out.Change.Names[i] = r.intern(name)
		}
		if len(out.Change.Names) == 1 || uint32(max(1, len(out.Change.Names))) != in.GetEntries() {
			r.fail("journal entry %d.%d belongs to a change with %d entries but %d names", out.Revision, out.Ordinal, in.GetEntries(), len(out.Change.Names))
		}
	case in.GetEntries() > 0:
		r.requires(3)
		out.Change = singleEntry // wholeChange replaces it if the previous entry belongs to the same change
	}
	return &out
}

// journalKind rejects event kinds that do not appear in the journal.
func (r *reader) journalKind(kind uint32) EventKind {
	if kind == uint32(BindingChanged) {
		return BindingChanged
	}
	return EventKind(r.enum(kind, uint32(Created), uint32(FiringsRemembered), "journal entry kind"))
}

func (w *writer) gate(name string, g *gate, pending pendingTimers, forgotten uint64) *logv1.StoredSemaphore {
	return &logv1.StoredSemaphore{
		Name: name, PermitRevision: g.permitRevision, LowWater: g.lowWater, RequestsForgotten: forgotten, EndsForgotten: g.runLog().forgotten,
		Drains: each(pending.drains, drainToProto), Reverts: each(pending.ends, w.end),
	}
}

func drainToProto(d semaphore.Drain) *logv1.StoredDrain {
	return &logv1.StoredDrain{Revision: d.Revision, Duration: int64(d.Duration)}
}

func (w *writer) end(end *EditEnd) *logv1.StoredRevert {
	return &logv1.StoredRevert{
		Revision: end.Revision, Until: w.time(end.Until), Before: definitionToProto(end.Before), After: definitionToProto(end.After),
		Drain: int64(end.Drain),
	}
}

func (r *reader) end(in *logv1.StoredRevert) *EditEnd {
	r.requires(2)
	r.drain(in.GetDrain())
	return r.endFromProto(in)
}

func (r *reader) endFromProto(in *logv1.StoredRevert) *EditEnd {
	return &EditEnd{
		Revision: in.GetRevision(), Until: timeFromProto(in.GetUntil()),
		Before: r.definition(in.GetBefore()), After: r.definition(in.GetAfter()), Drain: duration(in.GetDrain()),
	}
}

// pendingTimers reads a name's drains and temporary edits.
func (r *reader) pendingTimers(in *logv1.StoredSemaphore) pendingTimers {
	if len(in.GetDrains()) > 0 {
		r.requires(2)
	}
	return pendingTimers{
		drains: each(in.GetDrains(), func(d *logv1.StoredDrain) semaphore.Drain {
			return semaphore.Drain{Revision: d.GetRevision(), Duration: r.drain(d.GetDuration())}
		}),
		ends: each(in.GetReverts(), r.end),
	}
}
