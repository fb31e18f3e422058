package api

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/guessing"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/internal/audit"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// The server that decides about a call audits it: the leader, for calls that a follower passes on. It audits each
// refusal, and each change that a person makes. Permits that callers acquire and release, and tasks that they submit,
// have no line: there are thousands a second, and the history says how each ended.

// audits reports whether the calls of a method are audited although they are allowed.
func audits(fullMethod string) bool {
	t := traitsOf(fullMethod)
	switch fullMethod {
	case gatekeeperv1.PermitService_TakeOver_FullMethodName, gatekeeperv1.ClusterService_SaveSnapshot_FullMethodName: // who has a backup has all payloads
		return true
	}
	return !t.changesNothing && (t.kind == admission.Operator || t.kind == admission.Heavy)
}

// audited writes what became of a call that was decided here. req is nil where it was not read, or is a stream's. reply
// is nil beside an error.
func (a *API) audited(ctx context.Context, fullMethod string, req, reply any, err error) {
	if a.cfg.Audit == nil {
		return
	}
	r := audit.Record{Method: fullMethod, Decision: audit.Allowed}
	forbidden, isForbidden := errors.AsType[*forbiddenError](err)
	_, isStranger := errors.AsType[*unauthenticatedError](err)
	blocked, isBlocked := errors.AsType[*guessing.BlockedError](err)
	switch {
	case isForbidden:
		r.Decision, r.Reason, r.Principal, r.About = audit.Refused, forbidden.role.String(), forbidden.principal, []string{forbidden.what}
	case isStranger:
		r.Decision, r.Reason = audit.Refused, reasonUnauthenticated
	case isBlocked && !blocked.Notable():
		return
	case isBlocked:
		r.Decision, r.Reason, r.Times = audit.Refused, reasonTooManyFailures, blocked.Attempts
	case !audits(fullMethod) || isDryRun(req):
		return
	case err != nil:
		r.Decision, r.Reason = audit.Failed, reasonOf(status.Convert(toStatus(err)))
		if r.Reason == reasonNotLeader || r.Reason == reasonNoLeader {
			return // the caller asks another server
		}
	}
	if about := aboutOf(req); len(about) > 0 {
		r.About = about
	}
	if created, ok := reply.(*gatekeeperv1.CreateTokenResponse); ok {
		r.About = append(r.About, created.GetToken().GetId())
	}
	if m, ok := req.(interface{ GetAuthor() string }); ok {
		r.Author = m.GetAuthor()
	}
	if m, ok := req.(interface{ GetRequestId() string }); ok {
		r.RequestID = m.GetRequestId()
	}
	a.write(ctx, r)
}

// notYours is the reason of a refusal that the caller sees as the absence of a permit.
const notYours = "the permit is another principal's"

// hid writes that a caller was answered as if permits were not there, because they are another's.
func (a *API) hid(ctx context.Context, fullMethod string, tokens ...uint64) {
	if a.cfg.Audit != nil && len(tokens) > 0 {
		a.write(ctx, audit.Record{Method: fullMethod, Decision: audit.Refused, Reason: notYours, About: mapped(tokens, tokenText)})
	}
}

// hidden are the tokens of permits that are there, and not the owner's, among those that the owner was answered are
// lost.
func (a *API) hidden(owner semaphore.Owner, results []keeper.TokenResult) (tokens []uint64) {
	if a.cfg.Audit == nil || owner.Principal == nil {
		return nil
	}
	for i := range results {
		if results[i].Status == keeper.StatusLost && a.hides(owner, results[i].Token) {
			tokens = append(tokens, results[i].Token)
		}
	}
	return tokens
}

func (a *API) hides(owner semaphore.Owner, token uint64) bool {
	p := a.cfg.Machine.State().Permit(token)
	return p != nil && !owner.Sees(p.Semaphore, p.Identity)
}

func (a *API) write(ctx context.Context, r audit.Record) {
	r.Time = time.Now()
	if c := callerIn(ctx); c != nil {
		r.Subjects, r.Source, r.Via = c.credential.Subjects, c.source, c.via
		switch {
		case c.credential.Token != "" || c.credential.Login != nil:
			r.Subjects = []string{c.credential.String()}
		case c.member && c.certificate != nil:
			r.Subjects = []string{memberSubject + c.certificate.Subject.CommonName}
		case c.member:
			r.Subjects = []string{memberSubject + cmp.Or(c.via, a.cfg.ID)}
		}
		if p, _, err := c.principal(); err == nil {
			r.Principal = p.Name()
		}
	}
	if r.Source == "" {
		r.Source = sourceOf(ctx)
	}
	if r.Decision != audit.Refused || r.Times > 0 || a.repeats.first(&r) {
		a.cfg.Audit.Write(r)
	}
}

// sourceOf is the address from which a call has come to this server, be it by HTTP.
func sourceOf(ctx context.Context) string {
	if fromGateway(ctx) {
		return gatewayValue(ctx, SourceHeader)
	}
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

func isDryRun(req any) bool {
	m, ok := req.(interface{ GetDryRun() bool })
	return ok && m.GetDryRun()
}

// aboutOf names what a request is about: the fields that name a semaphore, a job, a token and so on, also within edits,
// selectors and plans.
func aboutOf(req any) (about []string) {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	_ = protorange.Range(m.ProtoReflect(), func(at protopath.Values) error { // breaks off by its own errors only
		if len(about) >= maxAbout {
			return protorange.Terminate
		}
		last := at.Index(-1)
		step := last.Step
		if step.Kind() == protopath.ListIndexStep {
			step = at.Index(-2).Step
		}
		if step.Kind() != protopath.FieldAccessStep {
			return nil
		}
		switch field := step.FieldDescriptor(); field.Name() {
		case "semaphore", "name", "names", "id", "job", "delete", "binding", "subject", "subjects", "group_pattern", "acquirer_pattern":
			if text, ok := last.Value.Interface().(string); ok {
				about = append(about, text)
			}
		case "token":
			if token, ok := last.Value.Interface().(uint64); ok {
				about = append(about, tokenText(token))
			}
		}
		return nil
	})
	return about
}

// maxAbout bounds what is looked for in a request; a line has fewer.
const maxAbout = 1000

func tokenText(token uint64) string { return "token " + decimal(token) }

// repeats counts refusals that are repeated, so that a client that tries in a loop does not drive everything else out
// of the log.
type repeats struct {
	mu    sync.Mutex // guards the others
	since time.Time
	seen  map[repeat]*audit.Record
	// strangers counts the refusals without a principal by their source; "" is all of them.
	strangers map[string]int
}

type repeat struct{ principal, subject, source, method, reason string }

const (
	// repeatsFor is how long repeated refusals are counted before a line reports them.
	repeatsFor = 10 * time.Second
	maxRepeats = 1000
	// maxStrangers is how many different refusals of callers without a principal have a line in that time, and
	// maxOfStranger of one address.
	maxStrangers, maxOfStranger = 100, 20
)

// first reports whether a refusal must be written now. Otherwise it counts it.
func (s *repeats) first(r *audit.Record) bool {
	key := repeat{principal: r.Principal, source: hostOf(r.Source), method: r.Method, reason: r.Reason}
	if len(r.Subjects) > 0 {
		key.subject = r.Subjects[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen, s.since, s.strangers = make(map[repeat]*audit.Record), r.Time, make(map[string]int)
	}
	last, again := s.seen[key]
	if !again {
		source, stranger := guessing.SourceOf(addressOf(r.Source)).String(), r.Principal == ""
		switch {
		case len(s.seen) >= maxRepeats, stranger && s.strangers[""] >= maxStrangers:
			key = repeat{reason: r.Reason} // of all others
		case stranger && s.strangers[source] >= maxOfStranger: // it decides how many names and methods it shows
			key = repeat{source: source, reason: r.Reason}
		case stranger:
			s.strangers[source]++
			s.strangers[""]++
		}
		last, again = s.seen[key]
	}
	if again {
		times := last.Times + 1
		*last = *r
		last.Times = times
		return false
	}
	s.seen[key] = &audit.Record{}
	return true
}

// due are the refusals that were repeated, if it is time to tell.
func (s *repeats) due(now time.Time) (all []*audit.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || now.Sub(s.since) < repeatsFor {
		return nil
	}
	for r := range maps.Values(s.seen) {
		if r.Times > 0 {
			all = append(all, r)
		}
	}
	s.seen = nil
	slices.SortFunc(all, func(a, b *audit.Record) int { return a.Time.Compare(b.Time) })
	return all
}

// tellRepeats writes the refusals that were repeated. The last time is when the API is closed.
func (a *API) tellRepeats(now time.Time) {
	for _, r := range a.repeats.due(now) {
		a.cfg.Audit.Write(*r)
	}
}
