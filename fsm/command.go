package fsm

import (
	"cmp"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// MaxDrain is the longest drain.
const MaxDrain = 24 * time.Hour

// MaxEditEnds is how many edits of one semaphore may be waiting for their end; an edit that would be one more is
// refused.
const MaxEditEnds = 16

// MaxSightings is how many sightings are kept; the longest unseen go first.
const MaxSightings = 100_000

// Command is one change of the replicated state. Commands are applied in the order of the log; each sees those before
// it. A command made by a server itself, not on behalf of a caller, carries the term in which it was made and is
// ignored unless the log entry's own term is the same: a proposal can be appended in a later term than it was made in.
type Command interface{ apply(d *draft) Result }

// Grant asks for a permit; its result is a GrantResult. The decision is made again when it is applied.
type Grant struct {
	Semaphore string
	Identity  semaphore.Identity
	Weight    uint32
	Firing    *semaphore.Firing
	// RequestID is equal in all retries of one acquisition; empty when the caller gave none.
	RequestID string
	Metadata  map[string]string
	// DefinitionVersion and CordonRevision are those against which the leader matched the patterns.
	DefinitionVersion uint64
	CordonRevision    uint64
	// ExpectedRevision is the permit revision that the caller saw; nil when it does not care.
	ExpectedRevision *uint64
	At               time.Time
	// RequestRevision is a cluster revision as of which this request had no permit; 0: none is known. Feature level 3.
	RequestRevision uint64
	// Supersedes is the live token of the identity, of which this is a re-acquisition; 0: the identity holds no permit.
	// Replaces: the caller said that nobody counts on that token any more. Feature level 3.
	Supersedes uint64
	Replaces   bool
	// Worker: the caller asks for a task with the permit; there is no firing. Feature level 4.
	Worker bool
}

// Extend sets a live permit's replicated duration; its result is a PermitResult. A longer one is always applied. A
// shorter one only in the term in which it was made: a later leader may have promised the longer one again.
type Extend struct {
	Token    uint64
	Duration time.Duration
	Term     uint64
}

// Release ends a live permit on its holder's word; its result is a ReleaseResult. With Cooling above zero the slot
// stays taken that much longer.
type Release struct {
	Token   uint64
	Job     semaphore.JobEnd // what becomes of the firing, if any; JobCutShort: feature level 2; JobFailed: feature level 4
	Failure string           // of JobFailed: what the holder says of it; at most semaphore.MaxName bytes
	Cooling time.Duration
	At      time.Time
	// Result is that of the permit's task, if it has one; at most max_result bytes of its job. Feature level 4.
	Result []byte
}

// Expire ends a live permit whose deadline has passed; its result is a PermitResult. By the definition's on_expiry the
// permit is freed, or held for an operator; with Cooling above zero it cools first.
type Expire struct {
	Token, Term uint64
	Cooling     time.Duration
	At          time.Time
}

// Abandon ends a permit whose grant no caller received; its result is a PermitResult. Its firing did not run.
type Abandon struct {
	Token, Term uint64
	Cooling     time.Duration // as in Release, for as long as superseded tokens may still be counted on; feature level 3
}

// EndCooling frees the slot of a cooling permit; its result is a PermitResult.
type EndCooling struct{ Token, Term uint64 }

// Clear frees a permit held for an operator; its result is a PermitResult.
type Clear struct {
	Token          uint64
	Author, Reason string
	At             time.Time
}

// Revoke marks a live permit as to be stopped; its result is a PermitResult. It frees nothing, unless UnsafeNow is set:
// that ends a live permit at once although its holder may still believe in it, and lets nothing cool. Revoking again
// does something only when it shortens the drain.
type Revoke struct {
	Token          uint64
	Author, Reason string
	At             time.Time
	// Drain is for how long its refreshes go on being granted, until EndDrain; 0: not at all. Feature level 2.
	Drain     time.Duration
	UnsafeNow bool // feature level 2
}

// TakeOver orders the holder of a live permit to stop because another caller judged it dead; its result is a
// PermitResult. It is applied only where the definition allows takeovers, and frees nothing. If it says less than a
// revoke did, it does nothing. Feature level 4.
type TakeOver struct {
	Token  uint64
	By     semaphore.Identity
	Reason string
	At     time.Time
}

// Cancel ends an acquire by its request id, whether or not it was granted; its result is a CancelResult.
type Cancel struct {
	Semaphore string
	Identity  semaphore.Identity
	RequestID string
	// Token is the live permit of that request for which the leader computed Cooling, which is as in Release; 0: it
	// found none. From feature level 3 on, a cancel that finds another permit does nothing. Feature level 3.
	Token   uint64
	Cooling time.Duration
}

// EditBatch edits definitions, all or nothing; its result is an EditResult.
type EditBatch struct {
	Changes        []Change
	Author, Reason string
	RequestID      string
	At             time.Time
	// Drain is for how long permits that are live now may go on although their holders are shut out by this change,
	// until EndDrain; at most MaxDrain. Feature level 2.
	Drain time.Duration
	// Until is when the leader's Revert gives the replaced fields their old values back; zero: never. Only for batches
	// of Replace, and while fewer than MaxEditEnds edits of each name wait for their end. Feature level 2.
	Until time.Time
	// Asked, with a request id, is a hash of what the caller asked for, which every repeat must ask for too; 0: not
	// known. RequestRevision is a cluster revision as of which the edit had not been made; 0: none is known. Feature
	// level 3.
	Asked, RequestRevision uint64
}

// ChangeKind is what a Change does. The numbers are frozen: they are in the log.
type ChangeKind uint8

const (
	Create  ChangeKind = 1
	Replace ChangeKind = 2
	Delete  ChangeKind = 3
	// Declare creates unless the name is there or was ever deleted; then it is skipped.
	Declare ChangeKind = 4
)

// Change is one edit of one definition.
type Change struct {
	Kind ChangeKind
	// Definition is nil for Delete.
	Definition *semaphore.Definition
	// Name is the definition's name, for every kind.
	Name            string
	ExpectedVersion uint64 // for Replace and Delete
}

// SetCordon adds or replaces the cordon of that id; its result is a RevisionResult.
type SetCordon struct {
	ID                            string
	GroupPattern, AcquirerPattern string // one may be empty: it then catches nobody
	Until                         time.Time
	Author, Reason                string
	At                            time.Time
	Drain                         time.Duration // as in EditBatch; feature level 2
	// RequestID, when given, has a repeat of the command do nothing, as that of an EditBatch does. Feature level 2.
	RequestID              string
	Asked, RequestRevision uint64 // as in EditBatch
}

// Uncordon ends a cordon; its result is a RevisionResult. Revision, when not 0, names the cordon's revision that it
// ends. Term is 0 on an operator's word.
type Uncordon struct {
	ID                     string
	Term, Revision         uint64
	Author, Reason         string
	At                     time.Time
	RequestID              string // as in SetCordon
	Asked, RequestRevision uint64 // as in EditBatch
}

// Pause pauses semaphores, all or nothing; its result is a RevisionResult.
type Pause struct {
	Names                  []string
	Reason, Author         string
	Until                  time.Time
	Stop                   bool
	Keep                   bool // leaves what is paused already as it is; feature level 3
	At                     time.Time
	Drain                  time.Duration // as in EditBatch, only with Stop; feature level 2
	RequestID              string        // as in SetCordon
	Asked, RequestRevision uint64        // as in EditBatch
	Expected               []Expected    // of Names, in their order; empty: whatever is there; feature level 3
}

// Expected is what a pause or a resume expects to find under one of its names. Anything else is a conflict, and then
// nothing happens.
type Expected struct {
	Version uint64 // of the definition
	Pause   uint64 // the revision of its pause; 0: it is not paused
}

// Resume ends pauses; its result is a RevisionResult. Revision, when not 0, names the pause that it ends: for a timer
// by its revision, for an operator, whose Term is 0, by the change that set it. From feature level 3 on it may name no
// semaphore if it has a request id: it then remembers that the caller's selector found nothing.
type Resume struct {
	Names                  []string
	Term, Revision         uint64
	Author, Reason         string
	At                     time.Time
	RequestID              string     // as in SetCordon
	Asked, RequestRevision uint64     // as in EditBatch
	Expected               []Expected // as in Pause
}

// Undo takes one change back, as one change, all of it or nothing; its result is an UndoResult. What is to be done was
// planned by who looked at the journal; the command carries what the plan expects to find, so that what was changed
// since is a conflict. A name stands in it once. Feature level 2.
type Undo struct {
	Change                 uint64 // what is taken back
	Edits                  []UndoEdit
	Pauses                 []UndoPause
	Cordons                []UndoCordon
	Author, Reason         string
	RequestID              string
	At                     time.Time
	Drain                  time.Duration // of Edits, as in EditBatch; pauses and cordons bring theirs
	Asked, RequestRevision uint64        // as in EditBatch
	// Also are other changes that this takes back in the same step. With any, a name may stand both in Edits, to be
	// replaced, and in Pauses. Partial: some of what the changes did stays. Feature level 3.
	Also    []uint64
	Partial bool
	// Firings are what becomes of memories of firings; feature level 3.
	Firings []UndoFirings
}

// UndoFirings brings forgotten firings and the low-water mark of a semaphore back, or forgets them again. If anything
// is not as expected, it does nothing.
type UndoFirings struct {
	Semaphore string
	// Back are remembered again as they were; none of these firings may have been claimed since. Forget are forgotten
	// again.
	Back   []*semaphore.Claim
	Forget []ExpectedClaim
	// LowWater is what the mark becomes, zero: it stays; and ExpectedLowWater what it is expected to be.
	LowWater, ExpectedLowWater time.Time
}

// UndoEdit is an edit by which a change is taken back: a create, a replace or a delete.
type UndoEdit struct {
	Change
	// Pause is the one with which a created definition comes back; nil: none. Its revision is set here.
	Pause *semaphore.Pause
	// EndsBack are edits that wait for their end again, by revision, which each had before; EndsGone the revisions of
	// those that no longer do. One that is not there any more is passed over. A delete has neither: all go with it.
	EndsBack []*EditEnd
	EndsGone []uint64
}

// UndoPause gives semaphores a pause back, or with nil lifts theirs.
type UndoPause struct {
	Pause *semaphore.Pause // with its Change; its revision is set here
	Of    []ExpectedPause
}

// ExpectedPause is a semaphore with the revision of the pause that is to be found there; 0: it is not paused.
type ExpectedPause struct {
	Name     string
	Revision uint64
}

// UndoCordon gives a cordon back, or with nil lifts it.
type UndoCordon struct {
	ID       string
	Expected uint64  // the revision of the one that is to be found there; 0: none
	Cordon   *Cordon // with its Change; its revision is set here
}

// Forget drops remembered firings that are not held by a permit; its result is a RevisionResult. The semaphore's
// low-water mark rises to UpTo.
type Forget struct {
	Semaphore string
	Term      uint64
	UpTo      time.Time // zero: none by due time
	Names     []string  // firings without due time
	// Firings are forgotten one by one and raise no mark: they may be claimed again. Feature level 3.
	Firings []semaphore.Firing
}

// ForgetFirings is an operator's repair of a memory of firings: it forgets all the named ones or none, and may lower
// the low-water mark. Its result is a FiringsResult. Where the mark does not cover them any more, these firings may be
// claimed again. Feature level 3.
type ForgetFirings struct {
	Semaphore string
	Firings   []ExpectedClaim
	// LowerTo is what the mark becomes if it is above; zero: it stays.
	LowerTo                time.Time
	Author, Reason         string
	RequestID              string
	At                     time.Time
	Asked, RequestRevision uint64 // as in EditBatch
}

// ExpectedClaim is a remembered firing with the token that is expected to have claimed it. A firing whose permit takes
// a slot is never as expected.
type ExpectedClaim struct {
	Firing semaphore.Firing
	Token  uint64
}

// Settings are replicated bounds of the whole cluster.
type Settings struct {
	MaxDuration time.Duration
	// JournalPerSemaphore and JournalTotal bound the edits in the journal, and as much again the entries of runs; below
	// feature level 3 both together.
	JournalPerSemaphore uint32
	JournalTotal        uint32
	// RememberedRequests is how many requests are remembered below feature level 3. From then on Requests counts.
	RememberedRequests  uint32
	RememberedDeletions uint32
	// Requests bounds what is remembered of requests from feature level 3 on.
	Requests RequestBounds
	// JournalLifetime is how long the journal keeps an entry; 0 means DefaultJournalLifetime. Feature level 3.
	JournalLifetime time.Duration
	// Work bounds what is stored for jobs. Feature level 4.
	Work work.Limits
}

// JournalLife is JournalLifetime, or its default.
func (s Settings) JournalLife() time.Duration {
	return cmp.Or(s.JournalLifetime, DefaultJournalLifetime)
}

// DefaultJournalLifetime is a year. Frozen: what servers forget depends on it.
const DefaultJournalLifetime = 366 * 24 * time.Hour

// RequestBounds bounds what is remembered of requests. 0 in a field means its default. Feature level 3.
type RequestBounds struct {
	// Lifetime is how long a request is remembered at least, while there is room for it. Default 10 minutes.
	Lifetime time.Duration
	// Kept is how many requests of each semaphore, and how many edits, are remembered for longer than that. Default
	// 1000.
	Kept uint32
	// RequestBytes and EditBytes bound the estimated sizes of all remembered requests, and of the edits. Beyond
	// RequestBytes the semaphore with the most requests loses its oldest one. Defaults 64 MiB and 16 MiB.
	RequestBytes, EditBytes uint64
}

// OrDefault is b with the defaults filled in. They are frozen: what servers forget depends on them.
func (b RequestBounds) OrDefault() RequestBounds {
	return RequestBounds{
		Lifetime:     cmp.Or(b.Lifetime, 10*time.Minute),
		Kept:         cmp.Or(b.Kept, 1000),
		RequestBytes: cmp.Or(b.RequestBytes, 64<<20),
		EditBytes:    cmp.Or(b.EditBytes, 16<<20),
	}
}

// DefaultSettings are those of a new cluster. They are frozen: every server replays the log from them, also a log that
// an older version wrote. Other values would give servers different states.
func DefaultSettings() Settings {
	return Settings{
		MaxDuration:         semaphore.DefaultMaxDuration,
		JournalPerSemaphore: 100,
		JournalTotal:        100_000,
		RememberedRequests:  100_000,
		RememberedDeletions: 100_000,
	}
}

// Trim forgets the requests of these names that were remembered at revision UpTo or before, but for the newest of each
// (RequestBounds.Kept); the empty name stands for edits. It forgets at most MaxTrimmed of them. Its result is a
// RevisionResult. It takes no revision and has no event, as Sight. Feature level 3.
type Trim struct {
	Term, UpTo uint64
	Names      []string
}

// MaxTrimmed is how many requests one Trim forgets, so that it does not hold up the commands behind it.
const MaxTrimmed = 4096

// Configure replaces the settings; its result is a RevisionResult.
type Configure struct {
	Settings       Settings
	Author, Reason string
	At             time.Time
}

// RetireMember remembers the id of a removed server, so that it is never taken again; its result is a RevisionResult.
type RetireMember struct{ ID string }

// RaiseFeatureLevel lets newer commands be proposed from here on; its result is a RevisionResult.
type RaiseFeatureLevel struct{ Level uint32 }

// EndDrain lets the drains that the change of that revision began be over; its result is a RevisionResult. Of Names,
// Cordon and Token one is set: the semaphores whose edit or pause it was, the id of the cordon, the token of the
// revoked permit. What has no such drain any more is passed over. Feature level 2.
type EndDrain struct {
	Change, Term uint64
	Names        []string
	Cordon       string
	Token        uint64
	At           time.Time
}

// Revert gives the fields that an edit with Until replaced their old values back, but for those that were set since;
// its result is a RevisionResult. What has no such edit any more is passed over. Feature level 2.
type Revert struct {
	Change, Term uint64
	Names        []string
	At           time.Time
}

// Sighting is a caller that was seen asking.
type Sighting struct {
	Group, Acquirer string
	At              time.Time // coarsely
}

// Sight remembers who was seen asking, newest first to stay when there are too many; its result is a RevisionResult. It
// is no change: it takes no revision and has no event. Feature level 2.
type Sight struct {
	Term      uint64
	Sightings []Sighting
}

// Missed is how a semaphore misses its expected work. The numbers are frozen: they are in the journal.
type Missed uint8

const (
	Heard          Missed = iota // it is not, or no longer
	NobodyAsked                  // nobody has asked for longer than expect_every
	AskedButDenied               // it was asked for, and denied each time
	NoProgress                   // it is held, and the job reports no progress
	HeldLong                     // it has been held for longer than expect_every
)

// NoteMissed puts into the journal that a semaphore misses its expected work, or is heard of again; its result is a
// RevisionResult. Feature level 2.
type NoteMissed struct {
	Semaphore string
	Term      uint64
	Missed    Missed
	Text      string
	At        time.Time
}

// EndQuarantine lets permits be granted again after a recovery; its result is a RevisionResult. Feature level 2.
type EndQuarantine struct {
	Term uint64
	At   time.Time
}

func (c Grant) apply(d *draft) Result             { return d.grant(c) }
func (c Extend) apply(d *draft) Result            { return d.extend(c) }
func (c Release) apply(d *draft) Result           { return d.release(c) }
func (c Expire) apply(d *draft) Result            { return d.expire(c) }
func (c Abandon) apply(d *draft) Result           { return d.abandon(c) }
func (c EndCooling) apply(d *draft) Result        { return d.endCooling(c) }
func (c Clear) apply(d *draft) Result             { return d.clear(c) }
func (c Revoke) apply(d *draft) Result            { return d.revoke(c) }
func (c Cancel) apply(d *draft) Result            { return d.cancel(c) }
func (c EditBatch) apply(d *draft) Result         { return d.editBatch(c) }
func (c SetCordon) apply(d *draft) Result         { return d.setCordon(c) }
func (c Uncordon) apply(d *draft) Result          { return d.uncordon(c) }
func (c Pause) apply(d *draft) Result             { return d.pause(c) }
func (c Resume) apply(d *draft) Result            { return d.resume(c) }
func (c Forget) apply(d *draft) Result            { return d.forget(c) }
func (c Configure) apply(d *draft) Result         { return d.configure(c) }
func (c RetireMember) apply(d *draft) Result      { return d.retireMember(c) }
func (c RaiseFeatureLevel) apply(d *draft) Result { return d.raiseFeatureLevel(c) }
func (c EndDrain) apply(d *draft) Result          { return d.endDrain(c) }
func (c Revert) apply(d *draft) Result            { return d.revert(c) }
func (c Sight) apply(d *draft) Result             { return d.sight(c) }
func (c NoteMissed) apply(d *draft) Result        { return d.noteMissed(c) }
func (c EndQuarantine) apply(d *draft) Result     { return d.endQuarantine(c) }
func (c Undo) apply(d *draft) Result              { return d.undo(c) }
func (c Trim) apply(d *draft) Result              { return d.trimRequests(c) }
func (c ForgetFirings) apply(d *draft) Result     { return d.forgetFirings(c) }
func (c TakeOver) apply(d *draft) Result          { return d.takeOver(c) }
