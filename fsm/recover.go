package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Recovery says how the state of a new cluster is made from one that was found in a folder or a backup of an old one.
// It is for tools that work offline: nothing here is a command.
type Recovery struct {
	// ClusterID is "seed.incarnation" of the new cluster; not that of the old one.
	ClusterID string
	// At is now, by the clock of who recovers. Tokens and revisions go on above its Unix seconds times 2^20, because
	// the old cluster may have given some that were not found.
	At             time.Time
	Author, Reason string
	// Backup says which backup the state is from, for the journal. Empty: it was found in a data folder.
	Backup string
	// Retired are the ids of the old cluster's servers: none of them is taken again.
	Retired []string
	// KeepPermits carries the permits over that were found; each has its full duration again from the first promotion
	// on. That is safe only when the folders of a majority of the last voters were read. Without it every live permit
	// is lost, as if it had expired, what cooled is free, and for the largest max_duration ever in force nothing is
	// granted.
	KeepPermits bool
	// MaxDuration is the largest max_duration that was ever in force, as far as who recovers knows; the largest that
	// was found counts when it is longer. 0: as was found.
	MaxDuration time.Duration
	// UnsafeGrantAfter, when not nil, is granted after instead: an operator's word that every old holder has stopped by
	// then. It is journaled, and has no place beside KeepPermits.
	UnsafeGrantAfter *time.Duration
}

// Recovered returns the state of a new cluster, made from s, which stays as it is. Its index and term are those of s,
// its feature level is at least 2. What an operator set stays: definitions, pauses, cordons, drains, and permits held
// for an operator; a permit whose definition says on_expiry hold is held when it is lost, as ever. One journal entry
// (RecoveredEvent) records all of it. The snapshot of the new state is what the first server of the new cluster starts
// from. A quarantine that is still to be waited out after an earlier recovery goes on beside KeepPermits.
//
// An error says what is wrong with r.
func (s *State) Recovered(r Recovery) (*State, error) {
	if err := r.validate(s); err != nil {
		return nil, fmt.Errorf("fsm: cannot recover: %w", err)
	}
	// A separate draft, with rebuilt indexes that no reader asks for.
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
		return fmt.Errorf("the new cluster needs another id, not %q", r.ClusterID)
	case r.At.Unix() <= 0 || r.At.After(latest):
		return fmt.Errorf("the clock says %v: tokens could go on below those that were given", r.At)
	case r.MaxDuration != 0 && (r.MaxDuration < semaphore.MinDuration || r.MaxDuration > maxMaxDuration):
		return fmt.Errorf("the largest max_duration %v is not within %v and %v", r.MaxDuration, semaphore.MinDuration, maxMaxDuration)
	case r.UnsafeGrantAfter == nil:
	case r.KeepPermits:
		return errors.New("permits that are kept need no time after which to grant")
	case *r.UnsafeGrantAfter < 0 || *r.UnsafeGrantAfter > r.FullQuarantine(s):
		return fmt.Errorf("granting after %v is not within 0 and %v, after which it is safe", *r.UnsafeGrantAfter, r.FullQuarantine(s))
	}
	for _, id := range r.Retired {
		if id == "" {
			return errors.New("a retired server has no id")
		}
	}
	return nil
}

// FullQuarantine is how long nothing is to be granted after a recovery of s that carries no permits over: until every
// permit that was ever granted has certainly ended.
func (r Recovery) FullQuarantine(s *State) time.Duration {
	return fullQuarantine(max(s.largestDuration, r.MaxDuration))
}

// fullQuarantine is how long a permit can be believed in that nobody here knows of.
func fullQuarantine(largest time.Duration) time.Duration { return largest + semaphore.Grace(largest) }

// recover does to a state what r says.
func (d *draft) recover(r Recovery) {
	old := d.clusterID
	d.clusterID = r.ClusterID
	d.largestDuration = max(d.largestDuration, r.MaxDuration)
	d.featureLevel = max(d.featureLevel, 2) // a quarantine needs it, and one server supports what it supports
	floor := uint64(r.At.Unix()) << 20
	d.lastToken = max(d.lastToken, floor) + 1
	d.revision = max(d.revision, floor)
	d.advance()
	if !r.KeepPermits {
		d.historyBegins = time.Unix(0, r.At.UnixNano()).UTC() // as a snapshot has it
		if d.featureLevel >= 3 {
			d.markForgotten() // the log entries that were lost may have had requests in them
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
	// The journal is in the order of revisions, and each permit that ends takes one.
	d.note(JournalEntry{Kind: RecoveredEvent, Author: r.Author, Reason: r.text(d, old, lost), At: r.At})
	for _, p := range lost {
		d.advance()
		d.lose(p, r.At)
	}
}

// lose ends a permit as if its time had passed. Its request is remembered, so that no retry of it is granted.
func (d *draft) lose(p *semaphore.Permit, at time.Time) {
	switch {
	case p.State == semaphore.Cooling:
		d.freeCooled(p)
	case d.holdsLost(p.Semaphore):
		d.hold(p)
	default:
		lost := ending{how: semaphore.EndExpired, at: at}
		d.settleFiring(p, lost)
		d.settleTask(p, lost)
		d.rememberEnd(p, semaphore.EndExpired)
		d.setPermit(p, nil)
		d.submitterGone(p.Token, at)
	}
}

// text is what the journal says of it.
func (r Recovery) text(d *draft, old string, lost []*semaphore.Permit) string {
	s := fmt.Sprintf("recovered from cluster %q: ", old)
	if r.Backup != "" {
		s = fmt.Sprintf("restored from a backup of cluster %q, %s: ", old, r.Backup)
	}
	if r.KeepPermits {
		s += counted(d.PermitCount(), "permit is", "permits are") + " carried over"
	} else {
		live, cooling := 0, 0
		held := d.PermitCount() - len(lost) // those that were held before
		for _, p := range lost {
			switch {
			case p.State == semaphore.Cooling:
				cooling++
			case d.holdsLost(p.Semaphore):
				held++
			default:
				live++
			}
		}
		s += fmt.Sprintf("%s lost, %s held for an operator, %d had cooled",
			counted(live, "permit is", "permits are"), counted(held, "is", "are"), cooling)
	}
	switch {
	case r.UnsafeGrantAfter != nil:
		s += fmt.Sprintf("; UNSAFE: permits are granted after %v, where %v would be safe", d.quarantine, fullQuarantine(d.largestDuration))
	case d.quarantine > 0:
		s += fmt.Sprintf("; nothing is granted for %v", d.quarantine)
	}
	if r.Reason != "" {
		s += "; " + r.Reason
	}
	return s
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
