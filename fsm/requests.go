package fsm

import (
	"fmt"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Remembered records how a request ended. The request is either an acquisition or an edit; here, an edit is any change
// by an operator. An acquisition has ended if its permit has ended, or if it was cancelled before it got one.
// Remembered is immutable.
type Remembered struct {
	Semaphore string // empty for an edit
	Identity  semaphore.Identity
	RequestID string // empty if the acquisition had none; it can then be found only by its token
	// RequestHash is a hash of the request's parameters. It is 0 (unknown) if the request was remembered below feature
	// level 3 or cancelled before its grant.
	RequestHash uint64
	Token       uint64        // 0 for an edit, and for an acquisition cancelled before it had a permit
	Revision    uint64        // the revision at which it was remembered
	Outcome     semaphore.End // NotEnded for an edit
	Edit        EditKind      // meaningful only for an edit
	// Response is the response to an edit, without its revision; nil if it is empty.
	Response *EditResponse
}

// EditResponse is the response to an edit, without its revision. All fields except Skipped require feature level 3. It
// is immutable.
type EditResponse struct {
	// NoOp is true if the edit found nothing to do. Its response has no revision.
	NoOp bool
	// Names are the semaphores that were paused or resumed.
	Names []string
	// Skipped are the names whose Declare was skipped.
	Skipped []string
	// Definition is the definition after an edit of a single definition. It is nil after a deletion, and for an edit of
	// several definitions.
	Definition *StoredDefinition
	// Permits is the number of permits (live, held and cooling) that remained when a single definition was deleted.
	Permits uint32
	// Cordon is the cordon that was set.
	Cordon *Cordon
	// Firings describes the firings that were forgotten.
	Firings *FiringsChange
}

// EditKind says what an operator changed. The values are frozen because they are stored in snapshots.
type EditKind uint8

const (
	EditDefinitions EditKind = iota
	EditPause
	EditResume
	EditCordon
	EditUncordon
	EditUndo
	EditForgetFirings // requires feature level 3
)

func (k EditKind) String() string {
	names := [...]string{"an edit of definitions", "a pause", "a resume", "a cordon", "an uncordon", "an undo", "a request to forget firings"}
	if int(k) >= len(names) {
		return fmt.Sprintf("EditKind(%d)", uint8(k))
	}
	return names[k]
}

// mayBeNoOp reports whether changes of this kind are remembered even if they found nothing to do.
func (k EditKind) mayBeNoOp() bool {
	return k == EditPause || k == EditResume || k == EditUncordon || k == EditForgetFirings
}

// OriginalResponse returns the response to an edit, without its revision.
func (r *Remembered) OriginalResponse() EditResponse {
	if r.Response == nil {
		return EditResponse{}
	}
	return *r.Response
}

// ChangeID returns the revision in the response to an edit, or 0 if the edit found nothing to do.
func (r *Remembered) ChangeID() uint64 {
	if r.OriginalResponse().NoOp {
		return 0
	}
	return r.Revision
}

// Matches reports whether a request with the given hash (0 if it is unknown) may be a retry of this one.
func (r *Remembered) Matches(requestHash uint64) bool {
	return requestHash == 0 || r.RequestHash == 0 || requestHash == r.RequestHash
}

// AcquisitionHash returns a hash of the parameters of an acquisition, except semaphore, identity and request id, which
// are its key. The hash is never 0. Metadata is not included, because a retry may describe itself differently. The hash
// is frozen because it is stored in snapshots.
func AcquisitionHash(weight uint32, firing *semaphore.Firing, worker bool) uint64 {
	h := fnvOffset
	number := func(n uint64) {
		for range 8 {
			h = (h ^ n&0xff) * fnvPrime
			n >>= 8
		}
	}
	number(uint64(weight))
	if firing != nil {
		if !firing.Due.IsZero() {
			number(uint64(firing.Due.UnixNano()))
		}
		h = hashText(h, firing.Name)
	}
	if worker {
		number(1)
	}
	return max(h, 1)
}

// TooOld explains why a request cannot be distinguished from one that was carried out and forgotten.
type TooOld struct {
	RequestRevision uint64 // a revision at which it had not been made yet, as far as its caller knows
	Forgotten       uint64 // the revision up to which requests may have been forgotten
	Revision        uint64 // the revision of the state that was read; a request id generated now is newer than every forgotten request
}

func (o TooOld) String() string {
	return fmt.Sprintf("it dates from revision %d, but requests up to revision %d may have been forgotten, "+
		"so it is unknown whether it was already carried out: use a new request id", o.RequestRevision, o.Forgotten)
}

// A requestMemory holds the requests remembered under one name: a semaphore's acquisitions or, under the empty name,
// edits. It exists while it holds a request or a mark that has not been merged into State.namesForgotten.
type requestMemory struct {
	requests fifo[*Remembered] // by revision
	bytes    uint64            // the sum of their sizes
	// forgotten is the latest revision of a forgotten request. It never decreases.
	forgotten uint64
	written   uint64 // see draft.writableMemory
}

// noMemory is used for names without remembered requests.
//
//nolint:gochecknoglobals // never written
var noMemory = &requestMemory{}

func (s *State) requestMemory(name string) *requestMemory {
	if m, ok := s.requestMemories.Get(name); ok {
		return m
	}
	return noMemory
}

// memorySize orders names by the number of remembered requests.
type memorySize struct {
	requests int
	name     string
}

func fewerRequests(a, b memorySize) bool {
	if a.requests != b.requests {
		return a.requests < b.requests
	}
	return a.name < b.name
}

// size estimates the memory that a remembered request uses. The estimate is the same on every server. A request of
// typical size uses requestBytes, including its entries in the trees.
func (r *Remembered) size() uint64 {
	n := requestBytes + len(r.Semaphore) + len(r.Identity.Group) + len(r.Identity.Acquirer) + len(r.Identity.HolderID) + len(r.Identity.Principal) + len(r.RequestID)
	if a := r.Response; a != nil {
		n += responseBytes + sizeOf(a.Names) + sizeOf(a.Skipped)
		if d := a.Definition; d != nil {
			n += definitionBytes + len(d.UpdatedBy) + len(d.Reason) + sizeOfDefinition(d.Definition)
			if d.Pause != nil {
				n += len(d.Pause.Reason) + len(d.Pause.Author)
			}
		}
		if c := a.Cordon; c != nil {
			n += definitionBytes + len(c.ID) + len(c.GroupPattern) + len(c.AcquirerPattern) + len(c.Author) + len(c.Reason)
		}
		if f := a.Firings; f != nil {
			for _, c := range f.Claims {
				n += requestBytes + len(c.Firing.Name) + len(c.Winner.Group) + len(c.Winner.Acquirer) + len(c.Winner.HolderID) + len(c.Winner.Principal)
			}
		}
	}
	return uint64(n)
}

// Sizes that the estimates add to the lengths of the strings. They are frozen at feature level 3 and above, because
// they determine which requests are forgotten.
const (
	requestBytes    = 256
	responseBytes   = 128
	definitionBytes = 512
	stringBytes     = 16
)

func sizeOf(texts []string) (n int) {
	for _, t := range texts {
		n += stringBytes + len(t)
	}
	return n
}

func sizeOfDefinition(d *semaphore.Definition) int {
	n := len(d.Name) + len(d.Description) + len(d.GroupPattern) + len(d.AcquirerPattern)
	for _, l := range d.Labels {
		n += 2*stringBytes + len(l.Key) + len(l.Value)
	}
	return n
}

// remember stores how a request ended at the current revision and forgets requests that exceed the limits. At most one
// request is remembered per revision.
func (d *draft) remember(r Remembered) {
	r.Revision = d.revision
	if d.featureLevel < 3 {
		r = r.asOfLevel2()
	}
	d.addRequest(&r)
	d.boundRequests()
}

// rememberEnd remembers the request of a permit that has ended.
func (d *draft) rememberEnd(p *semaphore.Permit, outcome semaphore.End) {
	d.remember(Remembered{
		Semaphore: p.Semaphore, Identity: p.Identity, RequestID: p.RequestID, RequestHash: AcquisitionHash(p.Weight, p.Firing, d.TaskOf(p.Token) != nil), Outcome: outcome, Token: p.Token,
	})
}

// asOfLevel2 returns r without the fields that feature level 3 introduced.
func (r Remembered) asOfLevel2() Remembered {
	skipped := r.OriginalResponse().Skipped
	r.RequestHash, r.Response = 0, nil
	if len(skipped) > 0 {
		r.Response = &EditResponse{Skipped: skipped}
	}
	return r
}

// editRequest identifies an edit's request.
type editRequest struct {
	kind        EditKind
	requestID   string
	requestHash uint64 // see Remembered.RequestHash
	revision    uint64 // a revision at which the edit had not been made yet; 0 if unknown
}

// rememberEdit remembers an edit and its response if the edit has a request id.
func (d *draft) rememberEdit(e editRequest, response EditResponse) {
	if e.requestID != "" {
		d.remember(Remembered{RequestID: e.requestID, Edit: e.kind, RequestHash: e.requestHash, Response: response.stored()})
	}
}

// rememberNoOp remembers an edit that found nothing to do, so that a retry does nothing either. For example, the
// retry must not lift a pause that has been set since. Below feature level 3 such an edit is not remembered.
func (d *draft) rememberNoOp(e editRequest) {
	if e.requestID != "" && d.featureLevel >= 3 {
		d.advance()
		d.rememberEdit(e, EditResponse{NoOp: true})
	}
}

// stored returns a pointer to a, or nil if the response is empty.
func (a EditResponse) stored() *EditResponse {
	if !a.NoOp && len(a.Names)+len(a.Skipped) == 0 && a.Definition == nil && a.Permits == 0 && a.Cordon == nil && a.Firings == nil {
		return nil
	}
	return &a
}

// repeated returns the result of a retried edit, or nil for a new edit. The function response derives the result from
// the remembered edit. repeated refuses a request id that belongs to a different edit, because otherwise the caller
// would assume that its own edit was made. It also refuses an id that may belong to a forgotten edit.
func (d *draft) repeated(e editRequest, response func(*Remembered) Result) Result {
	if e.requestID == "" {
		return nil
	}
	switch done := d.EditRequest(e.requestID); {
	case done != nil && (done.Edit != e.kind || !done.Matches(e.requestHash)):
		return InvalidResult{Why: fmt.Sprintf("request id %q %s", e.requestID, done.DescribeReuse(e.kind)), UsedBy: done}
	case done != nil:
		return response(done)
	}
	if old := d.TooOld("", e.revision); old != nil {
		return InvalidResult{Why: fmt.Sprintf("request id %q: %v", e.requestID, old), TooOld: old}
	}
	return nil
}

// DescribeReuse says, in human-readable form, which edit the request id belongs to and that an edit of the given kind
// needs a new id.
func (r *Remembered) DescribeReuse(kind EditKind) string {
	what := r.Edit.String()
	if r.Edit == kind {
		what += " with different parameters"
	}
	change := fmt.Sprintf("change %d", r.Revision)
	if r.OriginalResponse().NoOp {
		change = "which changed nothing"
	}
	return fmt.Sprintf("belongs to %s, %s: use a new one", what, change)
}

// addRequest adds a request. If two requests have the same key, only the newer one can be found by key. That happens if
// the request for a permit held for an operator was cancelled, which freed nothing, and the permit was later cleared.
func (d *draft) addRequest(r *Remembered) {
	m := d.writableMemory(r.Semaphore)
	d.updateMemorySize(r.Semaphore, m.requests.len(), m.requests.len()+1)
	m.requests = m.requests.push(r)
	size := r.size()
	m.bytes += size
	if r.Semaphore != "" {
		d.requestBytes += size
	}
	d.requests.Set(r.Revision, r)
	if r.RequestID != "" {
		d.requestKeys.Set(keyOfRequest(r))
	}
	if r.Token != 0 {
		d.requestTokens.Set(r.Token, r)
	}
}

// writableMemory returns a name's requestMemory for writing; see write.
func (d *draft) writableMemory(name string) *requestMemory {
	m, ok := d.requestMemories.Get(name)
	if ok && m.written == d.entries {
		return m
	}
	c := requestMemory{}
	switch {
	case ok:
		c = *m
	case name != "":
		c.forgotten = d.namesForgotten
	}
	c.written = d.entries
	d.requestMemories.Set(name, &c)
	return &c
}

func (d *draft) updateMemorySize(name string, from, to int) {
	if name == "" {
		return // edits have a separate budget
	}
	if from > 0 {
		d.memorySizes.Delete(memorySize{from, name})
	}
	if to > 0 {
		d.memorySizes.Set(memorySize{to, name})
	}
}

// boundRequests forgets requests that exceed the limits. At feature level 3 and above, the semaphore with the most
// requests loses its oldest one.
func (d *draft) boundRequests() {
	if d.featureLevel < 3 {
		for d.requests.Len() > int(d.settings.RememberedRequests) {
			_, oldest, _ := d.requests.Min()
			d.forgetOldest(oldest.Semaphore)
		}
		return
	}
	// The last request is kept, no matter how small the limit is.
	bounds := d.settings.Requests.OrDefault()
	for d.requestBytes > bounds.RequestBytes && d.requests.Len()-d.requestMemory("").requests.len() > 1 {
		largest, _ := d.memorySizes.Max()
		d.forgetOldest(largest.name)
	}
	for d.requestMemory("").bytes > bounds.EditBytes && d.requestMemory("").requests.len() > 1 {
		d.forgetOldest("")
	}
}

// forgetOldest forgets a name's oldest request.
func (d *draft) forgetOldest(name string) {
	m := d.writableMemory(name)
	r := m.requests.first()
	d.updateMemorySize(name, m.requests.len(), m.requests.len()-1)
	m.requests = m.requests.pop()
	size := r.size()
	m.bytes -= size
	if name != "" {
		d.requestBytes -= size
	}
	if d.featureLevel >= 3 {
		m.forgotten = max(m.forgotten, r.Revision)
	}
	d.requests.Delete(r.Revision)
	if r.RequestID != "" {
		if found, _ := d.requestKeys.Delete(keyOfRequest(r)); found.request != r {
			d.requestKeys.Set(found) // a newer request with the same key
		}
	}
	d.requestTokens.Delete(r.Token)
	d.settleMemory(name)
}

// settleMemory drops a name's requestMemory if no requests remain in it, unless it has a mark and the name is empty or
// has other data. It merges the mark of a dropped requestMemory into namesForgotten, so that marks do not accumulate
// for every name that ever existed.
func (d *draft) settleMemory(name string) {
	m, ok := d.requestMemories.Get(name)
	if !ok || m.requests.len() > 0 || m.forgotten > 0 && (name == "" || d.gate(name) != noGate) {
		return
	}
	d.requestMemories.Delete(name)
	d.namesForgotten = max(d.namesForgotten, m.forgotten)
}

// markForgotten records that any request up to the current revision may have been forgotten.
func (d *draft) markForgotten() {
	d.namesForgotten = d.revision
	d.writableMemory("")
	var names []string
	d.requestMemories.Scan(func(name string, _ *requestMemory) bool {
		names = append(names, name)
		return true
	})
	for _, name := range names {
		d.writableMemory(name).forgotten = d.revision
	}
}
