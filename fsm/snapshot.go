package fsm

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// snapshotFormat is the version of the snapshot layout. Every released layout remains readable.
const snapshotFormat = 1

// Snapshot writes the state as length-prefixed records: a header, then the records of each kind sorted by key, then a
// trailer with their count and the SHA-256 of everything before it. Equal states produce the same bytes. Snapshot may
// run concurrently with Apply.
func (s *State) Snapshot(w io.Writer) error {
	sum := sha256.New()
	buffered := bufio.NewWriterSize(w, 1<<16)
	rw := &recordWriter{to: io.MultiWriter(buffered, sum)}
	rw.write(&logv1.Record{Kind: &logv1.Record_Header{Header: headerToProto(s)}})
	s.records(rw)
	rw.count-- // does not count the header
	rw.to = buffered
	rw.write(&logv1.Record{Kind: &logv1.Record_Trailer{Trailer: &logv1.Trailer{Records: rw.count, Checksum: sum.Sum(nil)}}})
	if rw.err != nil {
		return fmt.Errorf("fsm: write snapshot: %w", rw.err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("fsm: write snapshot: %w", err)
	}
	return nil
}

// Hash returns the SHA-256 of the state's records, excluding index and term. Servers that applied the same entries have
// the same hash.
func (s *State) Hash() ([32]byte, error) {
	sum := sha256.New()
	buffered := bufio.NewWriterSize(sum, 1<<16) // hashing whole blocks is faster
	rw := &recordWriter{to: buffered}
	header := headerToProto(s)
	header.AppliedIndex, header.AppliedTerm = 0, 0
	rw.write(&logv1.Record{Kind: &logv1.Record_Header{Header: header}})
	s.records(rw)
	if rw.err != nil {
		return [32]byte{}, fmt.Errorf("fsm: hash state: %w", rw.err)
	}
	if err := buffered.Flush(); err != nil {
		return [32]byte{}, fmt.Errorf("fsm: hash state: %w", err)
	}
	return digest(sum), nil
}

// records writes everything between the header and the trailer.
func (s *State) records(w *recordWriter) {
	for d := range s.Definitions("") {
		w.write(&logv1.Record{Kind: &logv1.Record_Definition{Definition: w.definition(d)}})
	}
	s.permits.Scan(func(_ uint64, p *semaphore.Permit) bool {
		return w.write(&logv1.Record{Kind: &logv1.Record_Permit{Permit: w.permit(p)}})
	})
	s.claims.Scan(func(c *semaphore.Claim) bool {
		return w.write(&logv1.Record{Kind: &logv1.Record_Claim{Claim: w.claim(c)}})
	})
	for _, c := range s.cordons {
		w.write(&logv1.Record{Kind: &logv1.Record_Cordon{Cordon: w.cordon(c)}})
	}
	s.requests.Scan(func(_ uint64, r *Remembered) bool {
		return w.write(&logv1.Record{Kind: &logv1.Record_Request{Request: w.request(r)}})
	})
	s.deletions.Scan(func(name string, revision uint64) bool {
		return w.write(&logv1.Record{Kind: &logv1.Record_Deletion{Deletion: &logv1.StoredDeletion{Name: name, Revision: revision}}})
	})
	last := uint64(0)
	for e := range s.Journal("", 0) {
		w.write(&logv1.Record{Kind: &logv1.Record_Journal{Journal: w.journal(e, e.Revision != last)}})
		last = e.Revision
	}
	s.semaphores(w)
	for _, id := range s.retired {
		w.write(&logv1.Record{Kind: &logv1.Record_RetiredMember{RetiredMember: &logv1.StoredMember{Id: id}}})
	}
	s.sightings.Scan(func(seen Sighting) bool {
		return w.write(&logv1.Record{Kind: &logv1.Record_Sighting{Sighting: w.sighting(seen)}})
	})
	for j := range s.Jobs(0) {
		w.write(&logv1.Record{Kind: &logv1.Record_Job{Job: w.job(j)}})
	}
	s.jobs.tasks.Scan(func(t *work.Task) bool {
		return w.write(&logv1.Record{Kind: &logv1.Record_Task{Task: taskToProto(t)}})
	})
	for _, b := range s.bindings {
		w.write(&logv1.Record{Kind: &logv1.Record_Binding{Binding: w.binding(b)}})
	}
}

// semaphores writes each name's data except its definition, permits, claims, journal and requests.
func (s *State) semaphores(w *recordWriter) {
	marked := s.onlyMarked()
	writeMarkedBefore := func(name string) {
		for len(marked) > 0 && (name == "" || marked[0] < name) {
			w.write(&logv1.Record{Kind: &logv1.Record_Semaphore{Semaphore: &logv1.StoredSemaphore{
				Name: marked[0], RequestsForgotten: s.requestMemory(marked[0]).forgotten,
			}}})
			marked = marked[1:]
		}
	}
	s.gates.Scan(func(name string, g *gate) bool {
		pending, exists := s.timers.Get(name)
		if !exists {
			pending = &pendingTimers{}
		}
		forgotten := s.requestMemory(name).forgotten
		if name == "" || g.permitRevision == 0 && g.lowWater == 0 && !exists && forgotten == 0 && g.runLog().forgotten == 0 {
			return true // the rest is derived or in the definition; the mark for edits is in the header
		}
		writeMarkedBefore(name)
		return w.write(&logv1.Record{Kind: &logv1.Record_Semaphore{Semaphore: w.gate(name, g, *pending, forgotten)}})
	})
	writeMarkedBefore("")
}

// onlyMarked returns the names that have both remembered and forgotten requests, but no other data.
func (s *State) onlyMarked() (names []string) {
	s.requestMemories.Scan(func(name string, m *requestMemory) bool {
		if name != "" && m.forgotten > 0 && s.gate(name) == noGate {
			names = append(names, name)
		}
		return true
	})
	return names
}
