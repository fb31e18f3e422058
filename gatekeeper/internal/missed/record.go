package missed

import (
	"fmt"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// record tracks one semaphore with expect_every.
type record struct {
	name  string
	index int // in Listener.list
	every time.Duration
	// from is when tracking started. held is when the semaphore was last known to be held, and asked is when a caller
	// last asked. denied is when a caller was last denied. asker is that caller, and reason and message say why.
	from, held, asked, denied time.Time
	asker                     semaphore.Identity
	reason                    semaphore.Reason
	message                   string
	// holders are the live permits.
	holders map[uint64]*holding
	// Report describes how the semaphore is missing its work. Its Kind is fsm.NothingMissed if no work is missing.
	Report
	// fromJournal means that Report is from the journal of an earlier epoch, and nothing has changed since.
	fromJournal bool
	// noted is the kind in the journal's newest note. noting means that the command for the next note has been proposed
	// and has no outcome yet.
	noted  fsm.Missed
	noting bool
	// next is when the record must be checked again.
	next time.Time
}

// holding is one live permit.
type holding struct {
	id              semaphore.Identity
	since           time.Time
	granted         time.Time // according to the clock of the leader that granted it; for display only
	reportsProgress bool      // its job has reported progress
	progress        time.Time
}

// checkSoon schedules an immediate check if work is missing, because the event may end or change the report.
func (r *record) checkSoon(now time.Time) {
	if r.Kind != fsm.NothingMissed {
		r.next = now
	}
}

func (r *record) hold(p *semaphore.Permit, now time.Time) {
	if r.holders[p.Token] == nil {
		r.holders[p.Token] = &holding{id: p.Identity, since: now, granted: p.GrantedAt()}
	}
	r.held, r.fromJournal, r.next = now, false, now
}

// supersede moves a holding to a new token.
func (r *record) supersede(old, now uint64) {
	if h := r.holders[old]; h != nil {
		delete(r.holders, old)
		r.holders[now] = h
	}
}

func (r *record) end(token uint64, now time.Time) {
	if r.holders[token] == nil {
		return
	}
	delete(r.holders, token)
	r.held, r.fromJournal, r.next = now, false, now
}

func (r *record) recordProgress(token uint64, at time.Time) {
	h := r.holders[token]
	if h == nil || h.reportsProgress && !at.After(h.progress) {
		return
	}
	first := !h.reportsProgress
	h.reportsProgress, h.progress = true, at
	if first || r.Kind != fsm.NothingMissed {
		r.next = time.Now()
	}
	if r.Kind == fsm.NoProgress && time.Since(at) <= r.every {
		r.fromJournal = false
	}
}

// judge returns how the semaphore is missing its work, and when that may change without any event.
func (r *record) judge(now time.Time, waits bool) (report Report, next time.Time) {
	if len(r.holders) > 0 {
		return r.judgeHeld(now)
	}
	quiet := later(r.from, r.held)
	within := func(t time.Time) bool { return !t.IsZero() && now.Sub(t) <= r.every }
	overdue := now.Sub(quiet) > r.every
	switch {
	case (waits || within(r.denied)) && (overdue || r.fromJournal):
		return Report{Kind: fsm.AllDenied, Since: quiet, Text: r.deniedText(quiet), Reason: r.reason}, now.Add(r.every)
	case !overdue:
		return Report{}, quiet.Add(r.every)
	case within(r.asked): // the outcome of the call is unknown
		return Report{}, r.asked.Add(r.every)
	default:
		since := later(quiet, r.asked)
		atLeast := ""
		if since.Equal(r.from) { // the time before that is unknown
			atLeast = "at least "
		}
		text := fmt.Sprintf("no caller has requested a permit since %s%s; a request is expected every %v", atLeast, instant(since), r.every)
		return Report{Kind: fsm.NoRequests, Since: since, Text: text}, now.Add(r.every)
	}
}

func (r *record) deniedText(quiet time.Time) string {
	text := fmt.Sprintf("no permit has been held since %s, and a holder is expected every %v", instant(quiet), r.every)
	if r.denied.IsZero() {
		return text + "; a caller is waiting in the queue"
	}
	return text + fmt.Sprintf("; %s was last denied at %s: %s", describeCaller(r.asker), instant(r.denied), r.message)
}

// judgeHeld is judge for a semaphore with holders. It reports the worst holder: the one that has gone longest without
// progress or, if all are making progress, the one that has held its permit longest.
func (r *record) judgeHeld(now time.Time) (report Report, next time.Time) {
	var stuck, long uint64
	checkNoLaterThan := func(at time.Time) {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	next = now.Add(r.every)
	for token, h := range r.holders {
		if h.reportsProgress {
			checkNoLaterThan(h.progress.Add(r.every + 1))
			if now.Sub(h.progress) > r.every && (stuck == 0 || h.progress.Before(r.holders[stuck].progress)) {
				stuck = token
			}
		}
		checkNoLaterThan(h.since.Add(r.every + 1))
		if now.Sub(h.since) > r.every && (long == 0 || h.since.Before(r.holders[long].since)) {
			long = token
		}
	}
	switch {
	case stuck != 0:
		h := r.holders[stuck]
		text := fmt.Sprintf("token %d is held by %s, whose job last reported progress at %s", stuck, describeCaller(h.id), instant(h.progress))
		return Report{Kind: fsm.NoProgress, Since: h.progress, Text: text}, next
	case long != 0:
		h := r.holders[long]
		since := h.granted
		if since.IsZero() {
			since = h.since
		}
		text := fmt.Sprintf("token %d has been held by %s since %s, and a new holder is expected every %v", long, describeCaller(h.id), instant(since), r.every)
		return Report{Kind: fsm.HeldTooLong, Since: since, Text: text}, next
	}
	return Report{}, next
}

func describeCaller(id semaphore.Identity) string {
	return fmt.Sprintf("%q in group %q", id.Acquirer, id.Group)
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
