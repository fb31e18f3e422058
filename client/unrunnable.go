package client

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// loggedDenials records which denials have been logged, so that a job that is due every minute does not log its denial
// every minute. It belongs to the Client, because some schedulers create a new Runner for each run.
type loggedDenials struct {
	mu     sync.Mutex // guards logged
	logged map[denialKey]string
}

// denialKey is a request without its firing. Jobs that share a semaphore may use different weights and holder ids. If
// they shared a key, a grant to one would make the next denial of another look new.
type denialKey struct {
	semaphore, group, acquirer string
	holderID                   string // empty unless the application set it
	weight                     uint32
}

// maxLoggedDenials bounds the number of entries. If a program has more distinct denials, some are logged again.
const maxLoggedDenials = 10_000

// changed records the cause of a request's denial, and reports whether that cause is new. An empty cause means a grant,
// or a denial that needs no action.
func (u *loggedDenials) changed(key denialKey, cause string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if cause == "" {
		delete(u.logged, key)
		return false
	}
	if u.logged[key] == cause {
		return false
	}
	if u.logged == nil || len(u.logged) >= maxLoggedDenials {
		u.logged = make(map[denialKey]string)
	}
	u.logged[key] = cause
	return true
}

// report logs the reason a run does not start, if it cannot start until an operator intervenes. It logs again only if
// the cause changes. A nil err means a grant.
func (r *Runner) report(opts []AcquireOption, err error) {
	d, denied := errors.AsType[*DeniedError](err)
	cause, text := "", ""
	var more []any
	switch {
	case denied && d.NeedsAction():
		cause, text = string(d.Reason)+" "+d.Message, " until this is resolved: "+d.Message
		switch d.Reason {
		case ReasonFiringTooFarAhead, ReasonFiringForgotten:
			cause = string(d.Reason) // its message contains the firing, which differs each time
		case ReasonNoFreePermit:
			cause = string(d.Reason)                       // its message may contain the place in the queue
			text = " until this is resolved: " + d.Error() // names the slots to clear
		}
		more = []any{"reason", d.Reason, "explain", d.ExplainCommand()}
	case isRefused(err):
		cause, text = "the holder id", ": "+err.Error() // the error also contains the remaining wait, which differs each time
	case err != nil && !denied:
		return // it is unknown whether the cause persists
	}
	a := r.sem.request(opts)
	key := denialKey{semaphore: a.semaphore, group: a.group, acquirer: a.acquirer, weight: a.weight}
	if a.holderIDSet {
		key.holderID = *a.holderID
	}
	if r.sem.client.loggedDenials.changed(key, cause) {
		r.log().Warn("gatekeeper: the job will not run"+text, more...)
	}
}

// NeedsAction reports whether the denial persists until someone changes the definition, ends a cordon, clears a slot
// that is held for an operator, corrects a clock, or calls with another group, acquirer, weight, holder id or firing. A
// Runner logs such a denial as a warning, and logs it again only if its cause changes. A pause, or a firing that
// another holder has claimed, needs no action, because it is intended.
func (d *DeniedError) NeedsAction() bool {
	switch d.Reason {
	case ReasonNoSuchSemaphore, ReasonGroupMismatch, ReasonAcquirerMismatch, ReasonCordoned, ReasonHeldForOperator, ReasonAlreadyHeld, ReasonWeightExceedsPermits,
		ReasonFiringTooFarAhead, ReasonFiringForgotten:
		return true
	case ReasonNoFreePermit:
		return d.heldForOperator()
	case ReasonFiringClaimed:
		return d.ownClaim()
	case ReasonPaused, ReasonStopping, ReasonFiringDone:
	}
	return false
}

// heldForOperator reports whether every slot named in the denial is held for an operator.
func (d *DeniedError) heldForOperator() bool {
	for _, p := range d.Holders {
		if p.GetState() != gatekeeperv1.PermitState_PERMIT_STATE_HELD {
			return false
		}
	}
	return len(d.Holders) > 0
}

// ownClaim reports whether the caller's own identity claimed the firing: this process before a restart, or another
// process with the same holder id.
func (d *DeniedError) ownClaim() bool {
	return d.Reason == ReasonFiringClaimed && d.request != nil && !d.firingIsOver() && proto.Equal(d.Firing.GetWinner(), d.request.identity())
}

// ExplainCommand returns a shell command that shows step by step how the servers evaluate this request.
func (d *DeniedError) ExplainCommand() string {
	words := []string{"gkctl", "explain"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellQuote(value))
		}
	}
	dashed := strings.HasPrefix(d.Semaphore, "-")
	if !dashed {
		words = append(words, shellQuote(d.Semaphore))
	}
	add("--group", d.Group)
	add("--acquirer", d.Acquirer)
	if a := d.request; a != nil {
		if a.holderIDSet {
			add("--holder-id", *a.holderID)
		}
		if a.weight > 1 {
			add("--weight", strconv.FormatUint(uint64(a.weight), 10))
		}
		if name := a.firing.GetName(); name != "" {
			if a.firing.GetDue() != nil {
				name += "@" + a.firing.GetDue().AsTime().Format(time.RFC3339Nano)
			}
			add("--firing", name)
		}
	}
	if dashed {
		words = append(words, "--", shellQuote(d.Semaphore))
	}
	return strings.Join(words, " ")
}

// shellQuote quotes a word for a shell if necessary.
func shellQuote(s string) string {
	plain := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_./:@+,=", c)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
