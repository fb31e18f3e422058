package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// A Recovery specifies how to build a new cluster's state from a state found in an old cluster's data directory or
// backup. It is used by offline tools and is not a command.
type Recovery struct {
	// ClusterID is the new cluster's id, in the form "seed.incarnation". It must differ from the old cluster's.
	ClusterID string
	// At is the current time according to the clock of the machine that runs the recovery. New tokens and revisions
	// start above its Unix seconds times 2^20, because the old cluster may have used higher ones than were found.
	At             time.Time
	Author, Reason string
	// Backup identifies, for the journal, the backup that the state came from. It is empty if the state was found in a
	// data directory.
	Backup string
	// Retired lists the ids of the old cluster's servers, which are never used again.
	Retired []string
	// KeepPermits keeps the permits that were found. Each gets its full duration again, starting when the new cluster's
	// first leader takes over. This is safe only if the data directories of a majority of the last voters were read.
	// Without KeepPermits, every live permit is lost as if it had expired, cooling slots are freed, and nothing is
	// granted until every old permit has ended; see FullQuarantine.
	KeepPermits bool
	// MaxDuration is the largest max_duration that has ever been in force, as far as the operator knows. If a larger
	// one was found, or MaxDuration is 0, the one found is used.
	MaxDuration time.Duration
	// UnsafeGrantAfter, if not nil, replaces the wait before anything is granted: the operator asserts that every old
	// holder will stop before it ends. It is recorded in the journal and cannot be combined with KeepPermits.
	UnsafeGrantAfter *time.Duration
}

// Recovered returns the state of a new cluster, built from s. It does not modify s. The new state has the index and
// term of s, and a feature level of at least 2. Everything that an operator set is kept: definitions, pauses, cordons,
// drains, and permits held for an operator. A lost permit is held if its definition has on_expiry: hold, as usual. One
// journal entry (RecoveredEvent) records the recovery. The first server of the new cluster starts from a snapshot of
// the new state. With KeepPermits, an unfinished quarantine from an earlier recovery continues.
//
// If r is invalid, the error says why.
func (s *State) Recovered(r Recovery) (*State, error) {
	if err := r.validate(s); err != nil {
		return nil, fmt.Errorf("fsm: cannot recover: %w", err)
	}
	// Rebuild a separate draft with all indexes.
	var file bytes.Buffer
	if err := s.Snapshot(&file); err != nil {
		return nil, err
	}
	d, err := readSnapshot(&file)
	if err != nil {
		return nil, err
	}
	d.begin(d.index, d.term, 0)
	d.recover(r)
	return d.publish(), nil
}

func (r Recovery) validate(s *State) error {
	switch {
	case r.ClusterID == "" || r.ClusterID == s.clusterID:
		return fmt.Errorf("the new cluster needs an id other than %q", r.ClusterID)
	case r.At.Unix() <= 0 || r.At.After(latest):
		return fmt.Errorf("the clock shows %v, but new tokens are derived from it: correct the clock", r.At)
	case r.MaxDuration != 0 && (r.MaxDuration < semaphore.MinDuration || r.MaxDuration > maxDurationLimit):
		return fmt.Errorf("the largest max_duration %v is not between %v and %v", r.MaxDuration, semaphore.MinDuration, maxDurationLimit)
	case r.UnsafeGrantAfter == nil:
	case r.KeepPermits:
		return errors.New("UnsafeGrantAfter must be nil if permits are kept")
	case *r.UnsafeGrantAfter < 0 || *r.UnsafeGrantAfter > r.FullQuarantine(s):
		return fmt.Errorf("UnsafeGrantAfter %v is not between 0 and %v, after which granting is safe", *r.UnsafeGrantAfter, r.FullQuarantine(s))
	}
	for _, id := range r.Retired {
		if id == "" {
			return errors.New("a retired server has no id")
		}
	}
	return nil
}

// FullQuarantine returns how long to wait before granting anything after a recovery of s that keeps no permits. After
// that time, every permit ever granted has definitely ended.
func (r Recovery) FullQuarantine(s *State) time.Duration {
	return fullQuarantine(max(s.largestDuration, r.MaxDuration))
}

// fullQuarantine returns how long a holder may rely on a permit that the recovered state does not contain.
func fullQuarantine(largest time.Duration) time.Duration { return largest + semaphore.Grace(largest) }

// recover carries out r.
func (d *draft) recover(r Recovery) {
	old := d.clusterID
	d.clusterID = r.ClusterID
	d.largestDuration = max(d.largestDuration, r.MaxDuration)
	d.featureLevel = max(d.featureLevel, 2) // a quarantine requires level 2, which the cluster's only server supports
	floor := uint64(r.At.Unix()) << 20
	d.lastToken = max(d.lastToken, floor) + 1
	d.revision = max(d.revision, floor)
	d.advance()
	if !r.KeepPermits {
		d.historyBegins = time.Unix(0, r.At.UnixNano()).UTC() // as in a snapshot
		if d.featureLevel >= 3 {
			d.markForgotten() // the lost log entries may have contained requests
		}
	}
	for _, id := range r.Retired {
		if !d.Retired(id) {
			d.retire(id)
		}
	}
	switch {
	case r.KeepPermits:
	case r.UnsafeGrantAfter != nil:
		d.quarantine = *r.UnsafeGrantAfter
	default:
		d.quarantine = fullQuarantine(d.largestDuration)
	}

	var lost []*semaphore.Permit
	for p := range d.Permits(0) {
		if !r.KeepPermits && p.State != semaphore.Held {
			lost = append(lost, p)
		}
	}
	// The journal is sorted by revision, and the end of each permit uses a separate revision.
	d.note(JournalEntry{Kind: RecoveredEvent, Author: r.Author, Reason: r.journalReason(d, old, lost), At: r.At})
	for _, p := range lost {
		d.advance()
		d.lose(p, r.At)
	}
}

// lose ends a permit as if it had expired. Its request is remembered, so that a retry is not granted.
func (d *draft) lose(p *semaphore.Permit, at time.Time) {
	switch {
	case p.State == semaphore.Cooling:
		d.freeCooled(p)
	case d.holdsLostPermits(p.Semaphore):
		d.hold(p)
	default:
		lost := ending{how: semaphore.EndExpired, at: at}
		d.settleFiring(p, lost)
		d.settleTask(p, lost)
		d.rememberEnd(p, semaphore.EndExpired)
		d.setPermit(p, nil)
		d.submitterEnded(p.Token, at)
	}
}

// journalReason describes the recovery for the journal.
func (r Recovery) journalReason(d *draft, old string, lost []*semaphore.Permit) string {
	s := fmt.Sprintf("recovered from cluster %q: ", old)
	if r.Backup != "" {
		s = fmt.Sprintf("restored from a backup of cluster %q, %s: ", old, r.Backup)
	}
	if r.KeepPermits {
		s += counted(d.PermitCount(), "permit is", "permits are") + " carried over"
	} else {
		live, cooling := 0, 0
		held := d.PermitCount() - len(lost) // permits that were already held
		for _, p := range lost {
			switch {
			case p.State == semaphore.Cooling:
				cooling++
			case d.holdsLostPermits(p.Semaphore):
				held++
			default:
				live++
			}
		}
		s += fmt.Sprintf("%s lost, %s held for an operator, %d had finished cooling",
			counted(live, "permit is", "permits are"), counted(held, "is", "are"), cooling)
	}
	switch {
	case r.UnsafeGrantAfter != nil:
		s += fmt.Sprintf("; UNSAFE: permits are granted after %v; waiting %v would be safe", d.quarantine, fullQuarantine(d.largestDuration))
	case d.quarantine > 0:
		s += fmt.Sprintf("; no permits are granted for %v", d.quarantine)
	}
	if r.Reason != "" {
		s += "; " + r.Reason
	}
	return s
}

func counted(n int, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}
