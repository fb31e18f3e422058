package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// ErrSnapshot means that a snapshot cannot be restored. It is damaged, has a format or feature level that this version
// does not support, or belongs to another cluster. The error says which.
var ErrSnapshot = errors.New("fsm: cannot restore snapshot")

// These errors mean that a snapshot is not damaged. An ErrSnapshot wraps ErrNewer if a newer version wrote the
// snapshot, and ErrForeign if the snapshot belongs to another cluster.
var (
	ErrNewer   = errors.New("written by a newer version: upgrade this server")
	ErrForeign = errors.New("it belongs to another cluster")
)

// readSnapshot builds the state from a snapshot. The checksum detects damage to the file. Because a faulty server may
// have written the snapshot, and a wrong state is worse than none, readSnapshot also checks the contents as far as
// possible.
func readSnapshot(from io.Reader) (*draft, error) {
	in := &restorer{d: newDraft(""), r: reader{interned: make(map[string]string)}, records: newRecordReader(from)}
	if err := in.read(); err != nil {
		return nil, fmt.Errorf("%w: record %d: %w", ErrSnapshot, in.count, err)
	}
	in.crossCheck()
	if in.r.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, in.r.err)
	}
	return in.d, nil
}

// restorer reads a snapshot into d. The order of most kinds of records is checked against the last key in d's trees.
type restorer struct {
	d        *draft
	r        reader
	records  *recordReader
	count    uint64 // number of records read, including the current one
	revision uint64 // from the header; d.revision is 0 until the end, because adding permits must not count as a change
	kind     int    // kind of the last record; see recordKind
	// The last keys of the kinds whose trees also get entries from other records.
	lastDefinition, lastGate string
	lastEntry                *JournalEntry
	// credentialBindings maps a credential to the name of its binding.
	credentialBindings map[string]string
	// namesForgotten is from the header. d.namesForgotten is 0 until the end, so that names do not inherit it.
	namesForgotten uint64
}

// require records an error if ok is false; only the first error is kept. Code for kinds with millions of records uses a
// switch instead, because evaluating the arguments is expensive.
func (in *restorer) require(ok bool, format string, args ...any) {
	if !ok {
		in.r.fail(format, args...)
	}
}

// requireRevision checks that a revision is between 1 and the last revision.
func (in *restorer) requireRevision(revision uint64, what string) {
	if revision == 0 || revision > in.revision {
		in.r.fail("%s has revision %d, which is not between 1 and the last revision, %d", what, revision, in.revision)
	}
}

func (in *restorer) read() error {
	for record, err := range in.records.readAhead() {
		in.count++
		switch t := record.GetTrailer(); {
		case err != nil:
			return err
		case in.count == 1:
			in.header(record.GetHeader())
		case t != nil:
			return in.trailer(t)
		default:
			in.record(record)
		}
		if in.r.err != nil {
			return in.r.err
		}
	}
	return errTruncated // unreachable: readAhead yields an error or a trailer
}

func (in *restorer) header(h *logv1.Header) {
	d := in.d
	switch {
	case h == nil:
		in.r.fail("it does not begin with a header, so it is not a snapshot")
		return
	case h.GetFormat() != snapshotFormat:
		err := fmt.Errorf("its format is %d, but this version reads %d", h.GetFormat(), snapshotFormat)
		if h.GetFormat() > snapshotFormat {
			err = fmt.Errorf("%w: %w", err, ErrNewer)
		}
		in.r.fail("%w", err)
		return
	case h.GetFeatureLevel() == 0:
		in.r.fail("its feature level is 0")
		return
	case h.GetFeatureLevel() > SupportedLevel:
		in.r.fail("its feature level is %d, but this version supports 1 to %d: %w", h.GetFeatureLevel(), SupportedLevel, ErrNewer)
		return
	}
	in.r.header(h, d.State)
	if err := d.settings.validate(); err != nil {
		in.r.fail("its settings: %w", err)
	}
	in.require(d.largestDuration >= d.settings.MaxDuration && d.largestDuration <= maxDurationLimit, "its largest duration is %v", d.largestDuration)
	in.require(d.quarantine >= 0 && d.quarantine <= fullQuarantine(d.largestDuration), "its quarantine is %v, but its largest duration is %v",
		d.quarantine, d.largestDuration)
	in.require(d.accessRevision <= d.revision, "its access revision %d is greater than its revision %d", d.accessRevision, d.revision)
	in.require(d.cordonRevision <= d.revision, "its cordon revision %d is greater than its revision %d", d.cordonRevision, d.revision)
	in.revision, d.revision = d.revision, 0
	in.require(h.GetEditsForgotten() <= in.revision && h.GetNamesForgotten() <= in.revision,
		"requests were forgotten up to revisions %d and %d, but the last one is %d", h.GetEditsForgotten(), h.GetNamesForgotten(), in.revision)
	if h.GetEditsForgotten() != 0 || h.GetNamesForgotten() != 0 {
		in.r.requires(3)
	}
	in.namesForgotten = h.GetNamesForgotten()
	if edits := h.GetEditsForgotten(); edits != 0 {
		d.writableMemory("").forgotten = edits
	}
}

func (in *restorer) trailer(t *logv1.Trailer) error {
	if count := in.count - 2; t.GetRecords() != count { // without header and trailer
		return fmt.Errorf("its trailer counts %d records, but there are %d", t.GetRecords(), count)
	}
	if sum := in.records.checksum(); !bytes.Equal(t.GetChecksum(), sum[:]) {
		return errors.New("damaged: its checksum is wrong")
	}
	return in.records.expectEOF()
}

// record checks a record against those before it and adds it.
func (in *restorer) record(record *logv1.Record) {
	kind := recordKind(record)
	in.require(kind != 0, "unknown kind of record")
	in.require(kind > 1 && kind >= in.kind, "a record of kind %d follows one of kind %d", kind, in.kind)
	in.kind = kind
	switch k := record.GetKind().(type) {
	case *logv1.Record_Definition:
		in.definition(in.r.storedDefinition(k.Definition))
	case *logv1.Record_Permit:
		in.permit(in.r.permit(k.Permit))
	case *logv1.Record_Claim:
		in.claim(in.r.claim(k.Claim))
	case *logv1.Record_Cordon:
		in.cordon(in.r.cordon(k.Cordon))
	case *logv1.Record_Request:
		in.request(in.r.request(k.Request))
	case *logv1.Record_Deletion:
		in.deletion(deletion{revision: k.Deletion.GetRevision(), name: k.Deletion.GetName()})
	case *logv1.Record_Journal:
		in.journal(in.r.journal(k.Journal), k.Journal.GetEntries())
	case *logv1.Record_Semaphore:
		in.gate(k.Semaphore)
	case *logv1.Record_RetiredMember:
		in.retired(k.RetiredMember.GetId())
	case *logv1.Record_Sighting:
		in.sighting(sightingFromProto(k.Sighting))
	case *logv1.Record_Job:
		in.job(in.r.storedJob(k.Job))
	case *logv1.Record_Task:
		in.task(in.r.task(k.Task))
	case *logv1.Record_Binding:
		in.binding(in.r.binding(k.Binding))
	}
}

func (in *restorer) definition(s *StoredDefinition) {
	if in.r.err != nil {
		return
	}
	name := s.Definition.Name
	in.require(in.lastDefinition < name, "definition %q follows definition %q", name, in.lastDefinition)
	in.lastDefinition = name
	in.requireRevision(s.Version, "definition "+name)
	in.requireRevision(s.CreatedRevision, "definition "+name)
	if s.Pause != nil {
		in.requireRevision(s.Pause.Revision, "the pause of definition "+name)
		in.checkOrigin(s.Pause.Change, s.Pause.Revision, "the pause of definition "+name)
	}
	in.d.setDefinition(name, s)
}

func (in *restorer) permit(p *semaphore.Permit) {
	if in.r.err != nil {
		return
	}
	switch last, _, _ := in.d.permits.Max(); {
	case p.Token <= last || p.Token > in.d.lastToken:
		in.r.fail("permit %d follows permit %d; the last token is %d", p.Token, last, in.d.lastToken)
	case p.Semaphore == "":
		in.r.fail("permit %d has no semaphore", p.Token)
	case p.Weight == 0 || p.Weight > semaphore.MaxPermits:
		in.r.fail("permit %d has weight %d", p.Token, p.Weight)
	case p.Duration <= 0 || p.Duration > in.d.largestDuration:
		in.r.fail("permit %d has duration %v", p.Token, p.Duration)
	case p.State != semaphore.Cooling && in.d.Own(p.Semaphore, p.Identity) != nil:
		in.r.fail("permit %d belongs to an identity that already holds another", p.Token)
	}
	in.requireRevision(p.GrantedRevision, "a permit")
	in.share(p)
	p.Identity.Group, p.Identity.Acquirer = in.r.intern(p.Identity.Group), in.r.intern(p.Identity.Acquirer)
	in.d.setPermit(nil, p)
}

// share replaces a permit's semaphore name with the string in its definition, so that a million permits share one
// string.
func (in *restorer) share(p *semaphore.Permit) {
	if def := in.d.Definition(p.Semaphore); def != nil {
		p.Semaphore = def.Definition.Name
	}
}

func (in *restorer) claim(c *semaphore.Claim) {
	if in.r.err != nil {
		return
	}
	p := in.d.Permit(c.Token)
	switch last, exists := in.d.claims.Max(); {
	case exists && !claimBefore(last, c):
		in.r.fail("claim of %q in %q is out of order", c.Firing.Name, c.Semaphore)
	case c.Semaphore == "" || c.Firing.Name == "":
		in.r.fail("a claim has no semaphore or no name")
	case c.Token == 0 || c.Token > in.d.lastToken || in.d.claimOf(c.Token) != nil:
		in.r.fail("claim of %q in %q has token %d", c.Firing.Name, c.Semaphore, c.Token)
	case p != nil && (p.Semaphore != c.Semaphore || !p.Firing.Equal(&c.Firing)):
		in.r.fail("claim of %q in %q does not match its permit %d", c.Firing.Name, c.Semaphore, c.Token)
	case p == nil && c.State == semaphore.ClaimHeld:
		in.r.fail("claim of %q in %q is held by permit %d, which does not exist", c.Firing.Name, c.Semaphore, c.Token)
	case c.State == semaphore.ClaimOpen && (p != nil || c.Attempts == 0):
		in.r.fail("claim of %q in %q is open after %d attempts although permit %d exists", c.Firing.Name, c.Semaphore, c.Attempts, c.Token)
	}
	in.requireRevision(c.Revision, "a claim")
	in.d.setClaim(nil, c)
}

func (in *restorer) cordon(c *Cordon) {
	n := len(in.d.cordons)
	in.require(c.ID != "" && (n == 0 || in.d.cordons[n-1].ID < c.ID), "cordon %q is out of order", c.ID)
	in.require(c.Revision > 0 && c.Revision <= in.d.cordonRevision, "cordon %q has revision %d, but the last one is %d", c.ID, c.Revision, in.d.cordonRevision)
	in.checkOrigin(c.Change, c.Revision, "a cordon")
	in.d.cordons = append(in.d.cordons, c)
}

// checkOrigin checks the recorded origin of an object that an undo restored at the given revision.
func (in *restorer) checkOrigin(change, revision uint64, what string) {
	if change != 0 && change >= revision {
		in.r.fail("%s with revision %d was restored from change %d, which is not older", what, revision, change)
	}
}

func (in *restorer) deletion(del deletion) {
	last, _, _ := in.d.deletions.Max()
	in.require(last < del.name, "deletion of %q follows deletion of %q", del.name, last)
	in.require(in.d.Definition(del.name) == nil, "%q is both defined and deleted", del.name)
	in.requireRevision(del.revision, "a deletion")
	in.d.addDeletion(del)
}

func (in *restorer) gate(s *logv1.StoredSemaphore) {
	name := s.GetName()
	in.require(in.lastGate < name, "semaphore %q follows semaphore %q", name, in.lastGate)
	in.lastGate = name
	pending := in.r.pendingTimers(s)
	exists := len(pending.drains) > 0 || len(pending.ends) > 0
	if in.restoreForgotten(name, s.GetRequestsForgotten(), exists) && !exists && s.GetPermitRevision() == 0 && s.GetLowWater() == 0 && s.GetEndsForgotten() == 0 {
		return // the mark is its only data
	}
	g := in.d.write(name)
	g.permitRevision, g.lowWater = s.GetPermitRevision(), s.GetLowWater()
	in.require(exists || !g.empty(), "semaphore %q has no other data", name)
	if at := s.GetEndsForgotten(); at != 0 {
		in.r.requires(3)
		runs := g.runLog()
		runs.forgotten = at
		g.runs = &runs
	}
	in.require(exists || g.permitRevision > 0 || g.lowWater != 0 || s.GetEndsForgotten() != 0, "semaphore %q has no data", name)
	if exists {
		in.checkPendingTimers(name, pending)
		in.d.setTimers(name, pending)
	}
	in.require(g.permitRevision <= in.revision, "semaphore %q has permit revision %d, but the last one is %d", name, g.permitRevision, in.revision)
}

// checkPendingTimers checks a name's drains and temporary edits. A timer could never end one whose revision is invalid.
func (in *restorer) checkPendingTimers(name string, pending pendingTimers) {
	in.require(len(pending.drains) <= maxDrains, "semaphore %q has %d drains, but the limit is %d", name, len(pending.drains), maxDrains)
	in.require(len(pending.ends) <= MaxEditEnds, "semaphore %q has %d temporary edits, but the limit is %d", name, len(pending.ends), MaxEditEnds)
	in.require(len(pending.ends) == 0 || in.d.Definition(name) != nil, "semaphore %q has temporary edits but no definition", name)
	var last uint64
	for _, drain := range pending.drains {
		in.requireRevision(drain.Revision, "a drain of semaphore "+name)
		in.require(drain.Revision > last && drain.Duration > 0, "semaphore %q has a drain of %v at revision %d, which follows one at revision %d",
			name, drain.Duration, drain.Revision, last)
		last = drain.Revision
	}
	last = 0
	for _, end := range pending.ends {
		in.checkEnd(name, end, last)
		last = end.Revision
	}
}

// checkEnd checks one of a name's temporary edits. last is the revision of the previous one.
func (in *restorer) checkEnd(name string, end *EditEnd, last uint64) {
	in.requireRevision(end.Revision, "a temporary edit of semaphore "+name)
	in.require(end.Revision > last && !end.Until.IsZero(), "semaphore %q has a temporary edit with revision %d, which follows one with revision %d", name, end.Revision, last)
	in.require(end.Before != nil && end.Before.Name == name && end.After != nil && end.After.Name == name,
		"semaphore %q has a temporary edit of a different definition", name)
}

func (in *restorer) binding(b *access.Binding) {
	in.r.requires(4)
	n := len(in.d.bindings)
	in.require(n == 0 || in.d.bindings[n-1].Name < b.Name, "binding %q is out of order", b.Name)
	in.require(b.Revision > 0 && b.Revision <= in.d.accessRevision, "binding %q has revision %d, but the last one is %d", b.Name, b.Revision, in.d.accessRevision)
	if err := b.Validate(); err != nil {
		in.r.fail("a binding: %w", err)
	}
	for _, credential := range b.Subjects {
		in.addCredential(credential, b)
	}
	for _, t := range b.Tokens {
		in.addCredential("token:"+t.ID, b)
	}
	in.d.bindings = append(in.d.bindings, b)
}

// addCredential records a credential and checks that it belongs to only one binding.
func (in *restorer) addCredential(credential string, b *access.Binding) {
	if in.credentialBindings == nil {
		in.credentialBindings = make(map[string]string)
	}
	other, taken := in.credentialBindings[credential]
	in.require(!taken, "%q belongs to the bindings %q and %q", credential, other, b.Name)
	in.credentialBindings[credential] = b.Name
}

func (in *restorer) sighting(seen Sighting) {
	in.r.requires(2)
	if last, exists := in.d.State.sightings.Max(); exists && !sightingBefore(last, seen) {
		in.r.fail("sighting of %q in group %q is out of order", seen.Acquirer, seen.Group)
	}
	if err := validSighting(seen); err != nil {
		in.r.fail("a sighting: %w", err)
	}
	in.d.addSighting(seen)
}

func (in *restorer) retired(id string) {
	n := len(in.d.State.retired)
	in.require(id != "" && (n == 0 || in.d.State.retired[n-1] < id), "retired member %q is out of order", id)
	in.d.State.retired = append(in.d.State.retired, id)
}

// crossCheck checks the conditions that involve the whole state.
func (in *restorer) crossCheck() {
	d := in.d
	d.revision, d.namesForgotten = in.revision, in.namesForgotten
	d.permits.Scan(func(token uint64, p *semaphore.Permit) bool {
		if p.State == semaphore.Live && p.Firing != nil {
			if claim := d.claimOf(token); claim == nil || claim.State != semaphore.ClaimHeld {
				in.r.fail("permit %d is live but does not hold the claim of its firing", token)
			}
		}
		return in.r.err == nil
	})
	limit := int(d.settings.JournalPerSemaphore)
	d.gates.Scan(func(name string, g *gate) bool {
		switch {
		case g.permits > 0 && g.permitRevision == 0:
			in.r.fail("semaphore %q has permits but no permit revision", name)
		case d.excess(&JournalEntry{}, &JournalEntry{}, g.edits.len(), g.runLog().entries.len(), d.settings.JournalPerSemaphore) != nil:
			in.r.fail("semaphore %q has %d edits and %d runs as journal entries, but the limit is %d", name, g.edits.len(), g.runLog().entries.len(), limit)
		}
		return in.r.err == nil
	})
	for _, n := range [...]struct {
		what         string
		count, limit int
	}{
		{"deletions", d.deletionAges.Len(), int(d.settings.RememberedDeletions)},
		{"sightings", d.State.sightings.Len(), MaxSightings},
	} {
		in.require(n.count <= n.limit, "it has %d %s, but the limit is %d", n.count, n.what, n.limit)
	}
	in.require(d.excess(&JournalEntry{}, &JournalEntry{}, d.edits.Len(), d.State.runs.Len(), d.settings.JournalTotal) == nil,
		"it has %d edits and %d runs as journal entries, but the limit is %d", d.edits.Len(), d.State.runs.Len(), d.settings.JournalTotal)
	in.checkRequestBounds()
	in.checkJobs()
	in.require(d.changesForgotten <= d.revision, "changes were forgotten up to revision %d, but the last one is %d", d.changesForgotten, d.revision)
	in.require(in.r.level <= d.featureLevel, "it has data that requires feature level %d, but its level is %d", in.r.level, d.featureLevel)
}
