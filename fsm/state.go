package fsm

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/btree"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// A State is the replicated state after one log entry. It is immutable and safe for concurrent use. Callers must not
// modify the values that its methods return. A reference to a State keeps its data in memory, so do not hold one longer
// than needed.
type State struct {
	clusterID       string
	index, term     uint64 // of the last applied entry
	revision        uint64 // the last used revision
	lastToken       uint64
	cordonRevision  uint64
	rules           uint64 // see Rules; differs between servers
	featureLevel    uint32
	settings        Settings
	largestDuration time.Duration

	cordons []*Cordon // sorted by id; replaced, never modified
	retired []string  // sorted; replaced, never modified

	bindings       []*access.Binding // sorted by name; replaced, never modified
	accessRevision uint64            // of the last change to bindings or tokens; 0 if there has been none

	gates           *btree.Map[string, *gate]
	timers          *btree.Map[string, *pendingTimers] // few names have timers; each name that does has a gate
	definitionCount int

	permits    *btree.Map[uint64, *semaphore.Permit]
	holders    *btree.BTreeG[*semaphore.Permit] // by (semaphore, token)
	identities *btree.BTreeG[*semaphore.Permit] // live and held, by (semaphore, identity)

	claims *btree.BTreeG[*semaphore.Claim] // by (semaphore, due, name)

	requests        *btree.Map[uint64, *Remembered] // by revision
	requestKeys     *btree.BTreeG[requestKey]       // the latest request for each (semaphore, identity, request id)
	requestTokens   *btree.Map[uint64, *Remembered]
	requestMemories *btree.Map[string, *requestMemory] // the same requests by semaphore
	requestBytes    uint64                             // total size of all requests except edits
	// namesForgotten is the forgotten mark of every name that has no requestMemory.
	namesForgotten uint64

	deletions *btree.Map[string, uint64] // name to revision

	edits, runs *btree.BTreeG[*JournalEntry] // the journal, by (revision, ordinal); see EventKind.isRun
	// changesForgotten is the latest revision of a forgotten journal entry without a WholeChange.
	changesForgotten uint64

	jobs jobTrees

	sightings  *btree.BTreeG[Sighting] // by (group, acquirer)
	quarantine time.Duration           // 0 if none
	// historyBegins is the time of the last recovery that lost permits, or zero. The ends of those permits are not in
	// the journal.
	historyBegins time.Time
}

// A gate holds the data stored under one name: the definition, and the data that outlives its edits and its deletion. A
// gate exists while it holds anything, or while its name has timers. The definition, the permit revision and the
// low-water mark are stored; the rest is derived. There are as many gates as definitions, so narrow fields keep a gate
// at 96 bytes, and data that only a few names have is stored elsewhere.
type gate struct {
	definition     *StoredDefinition // nil if deleted or never created
	permitRevision uint64
	lowWater       int64  // Unix nanoseconds; 0 if nothing was forgotten
	used           uint64 // the total weight of all permits
	permits        int32
	claims         int32
	edits          fifo[*JournalEntry]
	runs           *runLog // nil if empty; replaced, never modified

	written uint64 // see draft.write
}

// A runLog is the journal of one semaphore's runs. It is immutable.
type runLog struct {
	entries   fifo[*JournalEntry]
	forgotten int64 // the time of the latest forgotten permit end, in Unix nanoseconds; 0 if none was forgotten
}

// runLog returns a copy that the caller may modify.
func (g *gate) runLog() runLog {
	if g.runs == nil {
		return runLog{}
	}
	return *g.runs
}

// pendingTimers holds the drains and temporary edits of one name, which the leader's timers will end. It is immutable.
type pendingTimers struct {
	drains []semaphore.Drain // by revision
	ends   []*EditEnd        // by revision; only if there is a definition
}

// noGate is used for names without any data.
//
//nolint:gochecknoglobals // never written
var noGate = &gate{}

func (g *gate) empty() bool {
	return g.definition == nil && g.permits == 0 && g.claims == 0 && g.edits.len() == 0 && g.runLog().entries.len() == 0
}

func newState(clusterID string) *State {
	settings := DefaultSettings()
	return &State{
		clusterID:       clusterID,
		featureLevel:    1,
		settings:        settings,
		largestDuration: settings.MaxDuration,

		gates:           btree.NewMap[string, *gate](0),
		timers:          btree.NewMap[string, *pendingTimers](0),
		permits:         btree.NewMap[uint64, *semaphore.Permit](0),
		holders:         newTree(holderBefore),
		identities:      newTree(identityBefore),
		claims:          newTree(claimBefore),
		requests:        btree.NewMap[uint64, *Remembered](0),
		requestMemories: btree.NewMap[string, *requestMemory](0),
		requestKeys:     newTree(requestBefore),
		requestTokens:   btree.NewMap[uint64, *Remembered](0),
		deletions:       btree.NewMap[string, uint64](0),
		edits:           newTree(journalBefore),
		runs:            newTree(journalBefore),
		sightings:       newTree(sightingBefore),
		jobs:            newJobTrees(),
	}
}

// newTree returns a tree without locks: only one goroutine writes the working copy, and published copies are never
// written.
func newTree[T any](before func(a, b T) bool) *btree.BTreeG[T] {
	return btree.NewBTreeGOptions(before, btree.Options{NoLocks: true})
}

// fork returns a copy of s. The trees share their nodes until one side writes to them. Only the owner of s may call
// fork, because copying a tree marks the nodes of the original as shared.
func (s *State) fork() *State {
	c := *s
	c.gates = s.gates.Copy()
	c.timers = s.timers.Copy()
	c.permits = s.permits.Copy()
	c.holders = s.holders.Copy()
	c.identities = s.identities.Copy()
	c.claims = s.claims.Copy()
	c.requests = s.requests.Copy()
	c.requestMemories = s.requestMemories.Copy()
	c.requestKeys = s.requestKeys.Copy()
	c.requestTokens = s.requestTokens.Copy()
	c.deletions = s.deletions.Copy()
	c.edits = s.edits.Copy()
	c.runs = s.runs.Copy()
	c.sightings = s.sightings.Copy()
	c.jobs = s.jobs.fork()
	return &c
}

func search[T any](list []T, id string, key func(T) string) (int, bool) {
	return slices.BinarySearchFunc(list, id, func(e T, id string) int { return strings.Compare(key(e), id) })
}
