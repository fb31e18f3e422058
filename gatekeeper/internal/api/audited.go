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

// The server that executes a call audits it. If a follower forwards the call, that server is the leader. Every refusal
// and every change made by a person is audited. Acquiring and releasing permits and submitting tasks are not, because
// they may happen thousands of times per second. The history records how each permit and task ended.

// isAudited reports whether calls to a method are audited even if they succeed. SaveSnapshot is one of them, because a
// backup contains all payloads.
func isAudited(fullMethod string) bool {
	t := traitsOf(fullMethod)
	switch fullMethod {
	case gatekeeperv1.PermitService_TakeOver_FullMethodName, gatekeeperv1.ClusterService_SaveSnapshot_FullMethodName:
		return true
	}
	return !t.changesNothing && (t.kind == admission.Operator || t.kind == admission.Heavy)
}

// auditCall writes the outcome of a call executed here to the audit log. req is nil if the request was not read or
// belongs to a stream. reply is nil if err is not nil.
func (a *API) auditCall(ctx context.Context, fullMethod string, req, reply any, err error) {
	if a.cfg.Audit == nil {
		return
	}
	r := audit.Record{Method: fullMethod, Decision: audit.Allowed}
	forbidden, isForbidden := errors.AsType[*forbiddenError](err)
	_, isUnauthenticated := errors.AsType[*unauthenticatedError](err)
	blocked, isBlocked := errors.AsType[*guessing.BlockedError](err)
	switch {
	case isForbidden:
		r.Decision, r.Reason, r.Principal, r.About = audit.Refused, forbidden.role.String(), forbidden.principal, []string{forbidden.what}
	case isUnauthenticated:
		r.Decision, r.Reason = audit.Refused, reasonUnauthenticated
	case isBlocked && !blocked.Notable():
		return
	case isBlocked:
		r.Decision, r.Reason, r.Times = audit.Refused, reasonTooManyFailures, blocked.Attempts
	case !isAudited(fullMethod) || isDryRun(req):
		return
	case err != nil:
		r.Decision, r.Reason = audit.Failed, reasonOf(status.Convert(toStatus(err)))
		if r.Reason == reasonNotLeader || r.Reason == reasonNoLeader {
			return // the caller switches to another server
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

// reasonOtherPrincipal is the reason audited for a refusal that makes the permit appear not to exist.
const reasonOtherPrincipal = "the permit belongs to another principal"

// auditHidden records in the audit log that other principals' permits were hidden from the caller.
func (a *API) auditHidden(ctx context.Context, fullMethod string, tokens ...uint64) {
	if a.cfg.Audit != nil && len(tokens) > 0 {
		a.write(ctx, audit.Record{Method: fullMethod, Decision: audit.Refused, Reason: reasonOtherPrincipal, About: mapSlice(tokens, tokenText)})
	}
}

// hidden returns the tokens that were reported to the owner as lost even though their permits exist, because those
// permits belong to another principal.
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
	if r.Decision != audit.Refused || r.Times > 0 || a.repeats.shouldWrite(&r) {
		a.cfg.Audit.Write(r)
	}
}

// sourceOf returns the client's address, for gRPC as well as HTTP.
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

// aboutOf returns the objects that a request names: semaphores, jobs, tokens and so on. It also searches edits,
// selectors and plans.
func aboutOf(req any) (about []string) {
	m, ok := req.(proto.Message)
	if !ok {
		return nil
	}
	_ = protorange.Range(m.ProtoReflect(), func(at protopath.Values) error { // fails only with an error from the callback
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

// maxAbout limits how many objects are collected from a request. A log line contains fewer than that.
const maxAbout = 1000

func tokenText(token uint64) string { return "token " + decimal(token) }

// repeats counts repeated refusals, so that a client that retries in a loop does not flood the log.
type repeats struct {
	mu    sync.Mutex // guards the fields below
	since time.Time
	seen  map[repeat]*audit.Record
	// anonymousBySource counts the refusals without a principal by source; the key "" counts all such refusals.
	anonymousBySource map[string]int
}

type repeat struct{ principal, subject, source, method, reason string }

const (
	// repeatPeriod is how long repeated refusals are counted before the count is written.
	repeatPeriod = 10 * time.Second
	maxRepeats   = 1000
	// maxAnonymous limits how many distinct refusals without a principal are logged in each period, and
	// maxAnonymousPerSource is the limit per address.
	maxAnonymous, maxAnonymousPerSource = 100, 20
)

// shouldWrite reports whether a refusal must be written now. If not, it counts the refusal.
func (s *repeats) shouldWrite(r *audit.Record) bool {
	key := repeat{principal: r.Principal, source: hostOf(r.Source), method: r.Method, reason: r.Reason}
	if len(r.Subjects) > 0 {
		key.subject = r.Subjects[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen, s.since, s.anonymousBySource = make(map[repeat]*audit.Record), r.Time, make(map[string]int)
	}
	last, repeated := s.seen[key]
	if !repeated {
		source, anonymous := guessing.SourceOf(addressOf(r.Source)).String(), r.Principal == ""
		switch {
		case len(s.seen) >= maxRepeats, anonymous && s.anonymousBySource[""] >= maxAnonymous:
			key = repeat{reason: r.Reason} // shared by all further refusals
		case anonymous && s.anonymousBySource[source] >= maxAnonymousPerSource: // a client can vary names and methods
			key = repeat{source: source, reason: r.Reason}
		case anonymous:
			s.anonymousBySource[source]++
			s.anonymousBySource[""]++
		}
		last, repeated = s.seen[key]
	}
	if repeated {
		times := last.Times + 1
		*last = *r
		last.Times = times
		return false
	}
	s.seen[key] = &audit.Record{}
	return true
}

// flush returns the repeated refusals and resets the counts. It returns nil if it is too early to report them.
func (s *repeats) flush(now time.Time) (all []*audit.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || now.Sub(s.since) < repeatPeriod {
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

// writeRepeats writes the repeated refusals if it is time to report them. Close calls it one last time.
func (a *API) writeRepeats(now time.Time) {
	for _, r := range a.repeats.flush(now) {
		a.cfg.Audit.Write(*r)
	}
}
