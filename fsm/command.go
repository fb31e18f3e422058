package fsm

import (
	"cmp"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// MaxDrain is the longest allowed drain.
const MaxDrain = 24 * time.Hour

// MaxEditEnds is the maximum number of temporary edits that one semaphore can have at a time. More are refused.
const MaxEditEnds = 16

// MaxSightings is the maximum number of sightings to keep. The least recent are dropped first.
const MaxSightings = 100_000

// A Command is one change to the replicated state. Commands are applied in the order of the log, and each sees the
// effects of those before it. A command that a server proposes on its own carries the term in which it was made. It is
// ignored unless the log entry has the same term, because a proposal can be appended in a later term than the one in
// which it was made.
type Command interface{ apply(d *draft) Result }

// Grant requests a permit; its result is a GrantResult. The decision is made again when the command is applied.
type Grant struct {
	Semaphore string
	Identity  semaphore.Identity
	Weight    uint32
	Firing    *semaphore.Firing
	// RequestID is the same in all retries of one acquisition. It is empty if the caller did not specify one.
	RequestID string
	Metadata  map[string]string
	// DefinitionVersion and CordonRevision identify the patterns that the leader matched against.
	DefinitionVersion uint64
	CordonRevision    uint64
	// ExpectedRevision is the permit revision that the caller saw, or nil if the caller does not require one.
	ExpectedRevision *uint64
	At               time.Time
	// RequestRevision is a cluster revision at which this request did not have a permit yet, or 0 if unknown. It
	// requires feature level 3.
	RequestRevision uint64
	// Supersedes is the identity's live token that this acquisition supersedes, or 0 if the identity holds no permit.
	// Replaces is true if the caller stated that the holder of that token no longer relies on it. Both require feature
	// level 3.
	Supersedes uint64
	Replaces   bool
	// Worker is true if the caller requests a task together with the permit. Firing is then nil. It requires feature
	// level 4.
	Worker bool
}

// Extend sets the replicated duration of a live permit; its result is a PermitResult. A longer duration is always
// applied. A shorter one is applied only in the term in which the command was made, because a later leader may have
// promised the longer one again.
type Extend struct {
	Token    uint64
	Duration time.Duration
	Term     uint64
}

// Release ends a live permit at its holder's request; its result is a ReleaseResult. If Cooling is positive, the slot
// remains occupied for that long.
type Release struct {
	Token   uint64
	Job     semaphore.JobEnd // decides what happens to the firing, if any; JobCutShort requires level 2, JobFailed level 4
	Failure string           // the holder's error message, at most semaphore.MaxName bytes long; empty with JobDone
	Cooling time.Duration
	At      time.Time
	// Result is the result of the permit's task, if any, of at most max_result bytes. It requires feature level 4.
	Result []byte
}

// Expire ends a live permit whose deadline has passed; its result is a PermitResult. Depending on the definition's
// on_expiry, the slot is freed or held for an operator. If Cooling is positive, the slot cools before it is freed.
type Expire struct {
	Token, Term uint64
	Cooling     time.Duration
	At          time.Time
}

// Abandon ends a permit whose grant never reached its caller; its result is a PermitResult. Its firing did not run.
type Abandon struct {
	Token, Term uint64
	Cooling     time.Duration // as in Release, if a holder may rely on a superseded token; requires feature level 3
}

// EndCooling frees the slot of a cooling permit; its result is a PermitResult.
type EndCooling struct{ Token, Term uint64 }

// Clear frees a permit that is held for an operator; its result is a PermitResult.
type Clear struct {
	Token          uint64
	Author, Reason string
	At             time.Time
}

// Revoke orders the holder of a live permit to stop; its result is a PermitResult. It does not free the slot unless
// UnsafeNow is set. With UnsafeNow, the permit ends immediately and without cooling, even though its holder may still
// rely on it. Revoking a permit again has an effect only if it shortens the drain.
type Revoke struct {
	Token          uint64
	Author, Reason string
	At             time.Time
	// Drain is how long the permit may still be refreshed, until EndDrain. 0 means not at all. It requires feature
	// level 2.
	Drain     time.Duration
	UnsafeNow bool // requires feature level 2
}

// TakeOver orders the holder of a live permit to stop because another caller considers the holder dead; its result is a
// PermitResult. It does not free the slot and applies only if the definition allows takeovers. If the permit has
// already been revoked without a drain, it does nothing. It requires feature level 4.
type TakeOver struct {
	Token  uint64
	By     semaphore.Identity
	Reason string
	At     time.Time
}

// Cancel ends an acquisition by its request id, whether or not it was granted; its result is a CancelResult.
type Cancel struct {
	Semaphore string
	Identity  semaphore.Identity
	RequestID string
	// Token is the token of the request's live permit, for which the leader computed Cooling, or 0 if the leader found
	// none. Cooling is as in Release. At feature level 3 and above, a cancel does nothing if the request has a
	// different permit. Both fields require feature level 3.
	Token   uint64
	Cooling time.Duration
}

// EditBatch edits one or more definitions, either all or none of them; its result is an EditResult.
type EditBatch struct {
	Changes        []Change
	Author, Reason string
	RequestID      string
	At             time.Time
	// Drain is how long holders that this change excludes may continue, until EndDrain. It covers permits that are live
	// when the change is applied. It is at most MaxDrain and requires feature level 2.
	Drain time.Duration
	// Until is the time at which the leader proposes a Revert that restores the old values of the replaced fields; zero
	// means never. It is valid only in a batch of Replace changes. A name can have at most MaxEditEnds temporary edits
	// at a time. It requires feature level 2.
	Until time.Time
	// RequestHash is a hash of the caller's request, if it has a request id. A retry must have the same hash. 0 means
	// unknown. RequestRevision is a cluster revision at which the edit had not been made yet, or 0 if unknown. Both
	// require feature level 3.
	RequestHash, RequestRevision uint64
}

// ChangeKind is the kind of a Change. The numbers are frozen because they are stored in the log.
type ChangeKind uint8

const (
	Create  ChangeKind = 1
	Replace ChangeKind = 2
	Delete  ChangeKind = 3
	// Declare creates the definition. It is skipped if the name exists or has ever been deleted.
	Declare ChangeKind = 4
)

// A Change is one edit of one definition.
type Change struct {
	Kind ChangeKind
	// Definition is nil for Delete.
	Definition *semaphore.Definition
	// Name is the definition's name, for every kind.
	Name            string
	ExpectedVersion uint64 // for Replace and Delete
}

// SetCordon adds or replaces the cordon with the given id; its result is a RevisionResult.
type SetCordon struct {
	ID                            string
	GroupPattern, AcquirerPattern string // one of them may be empty, and then matches nothing
	Until                         time.Time
	Author, Reason                string
	At                            time.Time
	Drain                         time.Duration // as in EditBatch; requires feature level 2
	// RequestID, if set, makes the command idempotent, as in EditBatch. It requires feature level 2.
	RequestID                    string
	RequestHash, RequestRevision uint64 // as in EditBatch
}

// Uncordon lifts a cordon; its result is a RevisionResult. If Revision is not 0, only the cordon set at that revision
// is lifted. Term is 0 if an operator sent the command.
type Uncordon struct {
	ID                           string
	Term, Revision               uint64
	Author, Reason               string
	At                           time.Time
	RequestID                    string // as in SetCordon
	RequestHash, RequestRevision uint64 // as in EditBatch
}

// Pause pauses one or more semaphores, either all or none of them; its result is a RevisionResult.
type Pause struct {
	Names                        []string
	Reason, Author               string
	Until                        time.Time
	Stop                         bool
	Keep                         bool // leaves existing pauses unchanged; requires feature level 3
	At                           time.Time
	Drain                        time.Duration // as in EditBatch, only with Stop; requires feature level 2
	RequestID                    string        // as in SetCordon
	RequestHash, RequestRevision uint64        // as in EditBatch
	Expected                     []Expected    // one per name, in order; empty if there is no expectation; requires feature level 3
}

// Expected is the state of one semaphore that a pause or a resume expects. If the actual state differs, the command
// conflicts and does nothing.
type Expected struct {
	Version uint64 // of the definition
	Pause   uint64 // the revision of its pause, or 0 if it is not paused
}

// Resume ends pauses; its result is a RevisionResult. If Revision is not 0, it selects the pause to end: a timer
// specifies the pause's own revision; an operator (Term is 0) specifies the change that set it. At feature level 3 and
// above, a Resume with a request id may have no names, to record that the caller's selector matched nothing.
type Resume struct {
	Names                        []string
	Term, Revision               uint64
	Author, Reason               string
	At                           time.Time
	RequestID                    string     // as in SetCordon
	RequestHash, RequestRevision uint64     // as in EditBatch
	Expected                     []Expected // as in Pause
}

// Undo reverses a change in one step, either completely or not at all; its result is an UndoResult. The undo was
// planned from the journal. The command carries the state that the plan expects, so that later changes cause a
// conflict. Each name may occur only once. It requires feature level 2.
type Undo struct {
	Change                       uint64 // the change to undo
	Edits                        []UndoEdit
	Pauses                       []UndoPause
	Cordons                      []UndoCordon
	Author, Reason               string
	RequestID                    string
	At                           time.Time
	Drain                        time.Duration // for Edits, as in EditBatch; pauses and cordons have their own drains
	RequestHash, RequestRevision uint64        // as in EditBatch
	// OtherChanges lists other changes to undo in the same step. If there are any, a name may occur both in Edits, as a
	// Replace, and in Pauses. Partial is true if some effects of the changes remain. Both require feature level 3.
	OtherChanges []uint64
	Partial      bool
	// Firings changes which firings are remembered. It requires feature level 3.
	Firings []UndoFirings
}

// UndoFirings restores a semaphore's forgotten firings and low-water mark, or forgets the firings again. If the state
// is not as expected, it does nothing.
type UndoFirings struct {
	Semaphore string
	// Restore lists the claims to restore unchanged; their firings must not have been claimed since. Forget lists the
	// claims to forget again.
	Restore []*semaphore.Claim
	Forget  []ExpectedClaim
	// LowWater is the new mark; zero leaves the mark unchanged. ExpectedLowWater is the mark expected before the undo.
	LowWater, ExpectedLowWater time.Time
}

// UndoEdit is an edit that undoes a change: a create, a replace or a delete.
type UndoEdit struct {
	Change
	// Pause is the pause to restore together with a created definition, or nil. Its revision is set when the command is
	// applied.
	Pause *semaphore.Pause
	// RestoredEnds lists the temporary edits whose scheduled ends are restored, in their earlier form. RemovedEnds
	// lists the revisions of temporary edits whose scheduled ends are removed; unknown ones are ignored. A delete has
	// neither, because it drops all temporary edits.
	RestoredEnds []*EditEnd
	RemovedEnds  []uint64
}

// UndoPause restores a pause on one or more semaphores, or lifts it if Pause is nil.
type UndoPause struct {
	Pause    *semaphore.Pause // with its Change; its revision is set when the command is applied
	Expected []ExpectedPause
}

// ExpectedPause is a semaphore and the revision of its expected pause, or 0 if it is expected not to be paused.
type ExpectedPause struct {
	Name     string
	Revision uint64
}

// UndoCordon restores a cordon, or lifts it if Cordon is nil.
type UndoCordon struct {
	ID       string
	Expected uint64  // the revision of the expected cordon, or 0 for none
	Cordon   *Cordon // with its Change; its revision is set when the command is applied
}

// Forget drops remembered firings that no permit holds; its result is a RevisionResult. The semaphore's low-water mark
// rises to UpTo.
type Forget struct {
	Semaphore string
	Term      uint64
	UpTo      time.Time // zero if no firings are forgotten by due time
	Names     []string  // firings without a due time
	// Firings are forgotten individually, without raising the mark, so they may be claimed again. It requires feature
	// level 3.
	Firings []semaphore.Firing
}

// ForgetFirings repairs a semaphore's remembered firings on behalf of an operator; its result is a FiringsResult. It
// forgets either all of the given firings or none, and may lower the low-water mark. Firings above the new mark may
// then be claimed again. It requires feature level 3.
type ForgetFirings struct {
	Semaphore string
	Firings   []ExpectedClaim
	// LowerTo is the new mark if it is lower than the current one; zero leaves the mark unchanged.
	LowerTo                      time.Time
	Author, Reason               string
	RequestID                    string
	At                           time.Time
	RequestHash, RequestRevision uint64 // as in EditBatch
}

// ExpectedClaim is a remembered firing with the token that is expected to have claimed it. The expectation also fails
// if the firing's permit still occupies a slot.
type ExpectedClaim struct {
	Firing semaphore.Firing
	Token  uint64
}

// Settings are the replicated limits for the whole cluster.
type Settings struct {
	MaxDuration time.Duration
	// JournalPerSemaphore and JournalTotal limit the journal entries for edits and, separately, those for runs. Below
	// feature level 3 they limit both together.
	JournalPerSemaphore uint32
	JournalTotal        uint32
	// RememberedRequests is the number of requests to remember below feature level 3. At level 3 and above, Requests
	// applies instead.
	RememberedRequests  uint32
	RememberedDeletions uint32
	// Requests bounds the remembered requests at feature level 3 and above.
	Requests RequestBounds
	// JournalLifetime is how long the journal keeps entries. 0 means DefaultJournalLifetime. This field requires
	// feature level 3.
	JournalLifetime time.Duration
	// Work bounds the data stored for jobs. It requires feature level 4.
	Work work.Limits
}

// JournalLife returns JournalLifetime or its default.
func (s Settings) JournalLife() time.Duration {
	return cmp.Or(s.JournalLifetime, DefaultJournalLifetime)
}

// DefaultJournalLifetime is a year. It is frozen because it determines which entries servers forget.
const DefaultJournalLifetime = 366 * 24 * time.Hour

// RequestBounds bounds the remembered requests. A field that is 0 takes its default. It requires feature level 3.
type RequestBounds struct {
	// Lifetime is the minimum time for which a request is remembered while there is room. The default is 10 minutes.
	Lifetime time.Duration
	// Kept is how many requests for each semaphore, and how many edits, are remembered even after Lifetime. The default
	// is 1000.
	Kept uint32
	// RequestBytes and EditBytes bound the estimated total sizes of the remembered requests and of the remembered
	// edits. Beyond RequestBytes, the semaphore with the most requests loses its oldest one. The defaults are 64 MiB
	// and 16 MiB.
	RequestBytes, EditBytes uint64
}

// OrDefault returns b with the defaults filled in. The defaults are frozen because they determine which requests
// servers forget.
func (b RequestBounds) OrDefault() RequestBounds {
	return RequestBounds{
		Lifetime:     cmp.Or(b.Lifetime, 10*time.Minute),
		Kept:         cmp.Or(b.Kept, 1000),
		RequestBytes: cmp.Or(b.RequestBytes, 64<<20),
		EditBytes:    cmp.Or(b.EditBytes, 16<<20),
	}
}

// DefaultSettings returns the settings of a new cluster. They are frozen: every server starts from them when it replays
// the log, even if an older version wrote it. With different values, the servers' states would diverge.
func DefaultSettings() Settings {
	return Settings{
		MaxDuration:         semaphore.DefaultMaxDuration,
		JournalPerSemaphore: 100,
		JournalTotal:        100_000,
		RememberedRequests:  100_000,
		RememberedDeletions: 100_000,
	}
}

// Trim forgets requests for the given names; the empty name means edits. It forgets requests remembered at or before
// revision UpTo, except the newest RequestBounds.Kept for each name, and at most MaxTrimmed in total. Its result is a
// RevisionResult. Like Sight, it consumes no revision and emits no event. It requires feature level 3.
type Trim struct {
	Term, UpTo uint64
	Names      []string
}

// MaxTrimmed is the maximum number of requests that one Trim forgets, so that it does not delay the next commands.
const MaxTrimmed = 4096

// Configure replaces the settings; its result is a RevisionResult.
type Configure struct {
	Settings       Settings
	Author, Reason string
	At             time.Time
}

// RetireMember records the id of a removed server, so that the id is never used again; its result is a RevisionResult.
type RetireMember struct{ ID string }

// RaiseFeatureLevel enables the commands of a newer feature level; its result is a RevisionResult.
type RaiseFeatureLevel struct{ Level uint32 }

// EndDrain ends the drains started by the change with the given revision; its result is a RevisionResult. Exactly one
// of Names, Cordon and Token is set: the semaphores that the change edited or paused, the id of the cordon, or the
// token of the revoked permit. Targets that no longer have this drain are ignored. It requires feature level 2.
type EndDrain struct {
	Change, Term uint64
	Names        []string
	Cordon       string
	Token        uint64
	At           time.Time
}

// Revert restores the old values of the fields that an edit with Until replaced, except fields that have been set again
// since; its result is a RevisionResult. Names that no longer have this edit are ignored. It requires feature level 2.
type Revert struct {
	Change, Term uint64
	Names        []string
	At           time.Time
}

// A Sighting records that a caller was seen requesting a permit.
type Sighting struct {
	Group, Acquirer string
	At              time.Time // approximate
}

// Sight records the callers that were seen requesting permits; its result is a RevisionResult. If there are too many,
// the most recent ones are kept. It does not count as a change: it consumes no revision and emits no event. It requires
// feature level 2.
type Sight struct {
	Term      uint64
	Sightings []Sighting
}

// Missed is the reason why a semaphore's expected work counts as missed. The numbers are frozen because the journal
// stores them.
type Missed uint8

const (
	NothingMissed Missed = iota // no work was missed
	NoRequests                  // no caller has requested a permit within expect_every
	AllDenied                   // callers requested permits, and all were denied
	NoProgress                  // a permit is held, and its job reports no progress
	HeldTooLong                 // a permit has been held for longer than expect_every
)

// NoteMissed records in the journal that a semaphore has started or stopped missing its expected work; its result is a
// RevisionResult. It requires feature level 2.
type NoteMissed struct {
	Semaphore string
	Term      uint64
	Missed    Missed
	Text      string
	At        time.Time
}

// EndQuarantine allows grants again after a recovery; its result is a RevisionResult. It requires feature level 2.
type EndQuarantine struct {
	Term uint64
	At   time.Time
}
