package api

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// Reason, StopCause, PermitState, ClaimState and Status have the same values as the API's enums, so their values are
// converted directly. A test checks that they match.

// maxTokens is the maximum number of tokens in a refresh or a frame.
const maxTokens = 10_000

// permitMessage is implemented by the messages that request or query a permit.
type permitMessage interface {
	GetSemaphore() string
	GetIdentity() *gatekeeperv1.Identity
	GetWeight() uint32
	GetFiring() *gatekeeperv1.Firing
}

// requestFrom converts a request, fills in defaults, and validates it.
func requestFrom(m permitMessage) (semaphore.Request, error) {
	firing, err := firingFrom(m.GetFiring())
	if err != nil {
		return semaphore.Request{}, err
	}
	r := semaphore.Request{
		Semaphore: m.GetSemaphore(),
		Identity:  identityFrom(m.GetIdentity()),
		Weight:    max(m.GetWeight(), 1),
		Firing:    firing,
	}
	return r, r.Validate()
}

func tryAcquireFrom(m *gatekeeperv1.TryAcquireRequest, received time.Time) (*keeper.AcquireCall, error) {
	call, err := callFrom(m, m.GetRequestId(), m.GetMetadata(), received)
	if err != nil {
		return nil, err
	}
	call.ExpectedRevision, call.RequestRevision, call.ReplacesToken = m.ExpectedRevision, m.GetRequestRevision(), m.GetReplacesToken()
	call.SentAt, err = timestampFrom("sent_at", m.GetSentAt())
	return call, err
}

func acquireFrom(m *gatekeeperv1.AcquireRequest, received time.Time) (*keeper.AcquireCall, error) {
	call, err := callFrom(m, m.GetRequestId(), m.GetMetadata(), received)
	if err != nil {
		return nil, err
	}
	if call.WaitedBefore, err = durationFrom("waited_before", m.GetWaitedBefore(), 0); err != nil {
		return nil, err
	}
	if call.RequestID == "" {
		return nil, invalid("request_id", "", "must be set and must be the same in all retries: it preserves the place in the queue")
	}
	if call.SentAt, err = timestampFrom("sent_at", m.GetSentAt()); err != nil {
		return nil, err
	}
	call.RequestRevision, call.ReplacesToken = m.GetRequestRevision(), m.GetReplacesToken()
	call.LeaveOnPause, call.OnePerAcquirer = m.GetLeaveOnPause(), m.GetOnePerAcquirer()
	if call.WaitedBefore < 0 {
		return nil, invalid("waited_before", call.WaitedBefore.String(), "must not be negative")
	}
	return call, nil
}

func callFrom(m permitMessage, requestID string, metadata map[string]string, received time.Time) (*keeper.AcquireCall, error) {
	request, err := requestFrom(m)
	if err != nil {
		return nil, err
	}
	if err := semaphore.ValidateRequestID(requestID); err != nil {
		return nil, err
	}
	if request.Firing != nil && requestID == "" {
		return nil, invalid("request_id", "", "must be set for a firing: without it a retry cannot be distinguished from another run")
	}
	if err := semaphore.ValidateMetadata(metadata); err != nil {
		return nil, err
	}
	return &keeper.AcquireCall{Request: request, RequestID: requestID, Metadata: metadata, Received: received}, nil
}

// holderFrom reads the identity in a call by token. It returns nil if there is none.
func holderFrom(m *gatekeeperv1.Identity) (*semaphore.Identity, error) {
	if m == nil {
		return nil, nil //nolint:nilnil // absent, which is valid
	}
	id := identityFrom(m)
	return &id, id.Validate()
}

// tokensFrom reads the tokens of a refresh. field is the name of the message field that contains them.
func tokensFrom(field string, tokens []*gatekeeperv1.TokenRefresh) ([]keeper.TokenRefresh, error) {
	if len(tokens) > maxTokens {
		return nil, invalid(field, strconv.Itoa(len(tokens))+" tokens", "must be at most "+strconv.Itoa(maxTokens)+" tokens")
	}
	out := make([]keeper.TokenRefresh, len(tokens))
	for i, t := range tokens {
		if t.GetToken() == 0 {
			return nil, invalid(at(field, i)+".token", "0", "must be a permit token")
		}
		duration, err := durationFrom("duration", t.GetDuration(), 0)
		if err != nil {
			return nil, within(at(field, i), err)
		}
		if duration <= 0 {
			return nil, invalid(at(field, i)+".duration", duration.String(), "must be greater than 0: send the duration from the last response for this token")
		}
		progress, err := durationFrom("since_progress", t.GetSinceProgress(), 0)
		if err != nil {
			return nil, within(at(field, i), err)
		}
		if progress < 0 {
			return nil, invalid(at(field, i)+".since_progress", progress.String(), "must not be negative")
		}
		out[i] = keeper.TokenRefresh{
			Token: t.GetToken(), Duration: duration, SinceProgress: progress, Reports: t.GetSinceProgress() != nil,
		}
	}
	return out, nil
}

// groupsFrom appends the groups' tokens to the other tokens in a frame.
func groupsFrom(groups []*gatekeeperv1.TokenGroup, out []keeper.TokenRefresh) ([]keeper.TokenRefresh, error) {
	count := len(out)
	for _, g := range groups {
		count += len(g.GetTokens())
	}
	if count > maxTokens || len(groups) > maxTokens {
		return nil, invalid("groups", strconv.Itoa(count)+" tokens", "must be at most "+strconv.Itoa(maxTokens)+" tokens in all fields combined")
	}
	out = slices.Grow(out, count-len(out))
	for i, g := range groups {
		duration, err := durationFrom("duration", g.GetDuration(), 0)
		if err != nil {
			return nil, within(at("groups", i), err)
		}
		if duration <= 0 {
			return nil, invalid(at("groups", i)+".duration", duration.String(), "must be greater than 0: send the duration from the last response for these tokens")
		}
		for j, token := range g.GetTokens() {
			if token == 0 {
				return nil, invalid(at(at("groups", i)+".tokens", j), "0", "must be a permit token")
			}
			out = append(out, keeper.TokenRefresh{Token: token, Duration: duration})
		}
	}
	return out, nil
}

// splitRefreshed separates the results that only report a refresh, grouped by duration, from the rest.
func splitRefreshed(results []keeper.TokenResult) (others []keeper.TokenResult, refreshed []*gatekeeperv1.TokenGroup) {
	var last *gatekeeperv1.TokenGroup // most frames have one duration
	var duration time.Duration
	for i := range results {
		r := &results[i]
		if r.Status != keeper.StatusRefreshed || r.Stop != semaphore.NotStopping || r.DrainLeft > 0 || r.Message != "" {
			others = append(others, *r)
			continue
		}
		if last == nil || duration != r.Duration {
			last, duration = &gatekeeperv1.TokenGroup{Duration: durationpb.New(r.Duration), Tokens: make([]uint64, 0, len(results)-i)}, r.Duration
			refreshed = append(refreshed, last)
		}
		last.Tokens = append(last.Tokens, r.Token)
	}
	return others, refreshed
}

func toResults(results []keeper.TokenResult) []*gatekeeperv1.TokenResult {
	// A frame has many results, so they share one allocation. Permits with the same duration share one duration
	// message, which is never modified.
	values := make([]gatekeeperv1.TokenResult, len(results))
	out := make([]*gatekeeperv1.TokenResult, len(results))
	var shared *durationpb.Duration
	for i := range results {
		r, v := &results[i], &values[i]
		v.Token = r.Token
		v.Status = gatekeeperv1.RefreshStatus(r.Status)
		v.Stop = gatekeeperv1.StopCause(r.Stop)
		v.Message = r.Message
		v.SupersededBy = r.SupersededBy
		if r.Status == keeper.StatusRefreshed {
			if shared.AsDuration() != r.Duration {
				shared = durationpb.New(r.Duration)
			}
			v.Duration = shared
		}
		if r.DrainLeft > 0 {
			v.DrainLeft = durationpb.New(r.DrainLeft)
		}
		out[i] = v
	}
	return out
}

func toPermit(p *semaphore.Permit) *gatekeeperv1.Permit {
	if p == nil {
		return nil
	}
	return &gatekeeperv1.Permit{
		Semaphore:       p.Semaphore,
		Identity:        toIdentity(p.Identity),
		Weight:          p.Weight,
		Token:           p.Token,
		Duration:        durationpb.New(p.Duration),
		Firing:          toFiring(p.Firing),
		State:           gatekeeperv1.PermitState(p.State),
		Stop:            gatekeeperv1.StopCause(p.Stop),
		StopReason:      p.StopOrder().Reason,
		GrantedRevision: p.GrantedRevision,
		GrantedAt:       toTimestamp(p.GrantedAt()),
		Metadata:        p.Metadata,
	}
}

func toGrant(a *keeper.Answer) *gatekeeperv1.Grant {
	return &gatekeeperv1.Grant{
		Permit:    toPermit(a.Permit),
		Refreshed: a.Outcome == semaphore.Refreshed,
		Waited:    durationpb.New(a.Waited),

		SupersededToken: a.Superseded,
	}
}

// toDenial converts a denial. requested is the firing in the request.
func toDenial(d *keeper.Denial, requested *semaphore.Firing) *gatekeeperv1.Denial {
	return toDenialWith(d, requested, toPermit)
}

// toDenialWith is like toDenial but converts holders with toHolder.
func toDenialWith(d *keeper.Denial, requested *semaphore.Firing, toHolder func(*semaphore.Permit) *gatekeeperv1.Permit) *gatekeeperv1.Denial {
	out := &gatekeeperv1.Denial{
		Reason:         gatekeeperv1.Reason(d.Decision.Reason),
		Message:        d.Message,
		HolderCount:    uint32(d.HolderCount),
		QueueLength:    uint32(d.QueueLength),
		Firing:         toClaim(&d.Decision, requested),
		Stop:           gatekeeperv1.StopCause(d.Decision.Stop),
		Pause:          toPause(d.Pause),
		PermitRevision: d.PermitRevision,
		LeaderClock:    toTimestamp(d.LeaderClock),
		CallerClock:    toTimestamp(d.CallerClock),
	}
	for _, p := range d.Holders {
		out.Holders = append(out.Holders, toHolder(p))
	}
	if d.RetryAfter >= 0 {
		out.RetryAfter = durationpb.New(d.RetryAfter)
	}
	return out
}

// toClaim converts the claim that won a firing. For a forgotten firing, only its state is known.
func toClaim(d *semaphore.Decision, requested *semaphore.Firing) *gatekeeperv1.FiringClaim {
	switch {
	case d.Reason == semaphore.FiringForgotten:
		return &gatekeeperv1.FiringClaim{Firing: toFiring(requested), State: gatekeeperv1.FiringState_FIRING_STATE_FORGOTTEN}
	case d.Claim == nil:
		return nil
	}
	claim := toFiringClaim(d.Claim)
	claim.ClaimedAt = nil
	return claim
}

func toPlace(p keeper.Place, repeat bool) *gatekeeperv1.Place {
	return &gatekeeperv1.Place{Place: uint32(p.Place), QueueLength: uint32(p.QueueLength), Repeat: repeat, Pause: toPause(p.Pause)}
}

func toWaiter(w *keeper.Waiter) *gatekeeperv1.Waiter {
	return &gatekeeperv1.Waiter{
		Semaphore: w.Semaphore,
		Identity:  toIdentity(w.Identity),
		Weight:    w.Weight,
		Place:     uint32(w.Place),
		Waiting:   durationpb.New(w.Waiting),
		RequestId: w.RequestID,
		Worker:    w.Worker,
	}
}

func jobEndFrom(o gatekeeperv1.ReleaseOutcome) (semaphore.JobEnd, error) {
	switch o {
	case gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_UNSPECIFIED, gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_DONE:
		return semaphore.JobDone, nil
	case gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_NOT_RUN:
		return semaphore.JobNotRun, nil
	case gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_CUT_SHORT:
		return semaphore.JobCutShort, nil
	case gatekeeperv1.ReleaseOutcome_RELEASE_OUTCOME_FAILED:
		return semaphore.JobFailed, nil
	default:
		return 0, invalid("outcome", strconv.Itoa(int(o)),
			"must be RELEASE_OUTCOME_DONE, RELEASE_OUTCOME_NOT_RUN, RELEASE_OUTCOME_CUT_SHORT or RELEASE_OUTCOME_FAILED")
	}
}

// failureFrom shortens a failure message to one line of at most semaphore.MaxName bytes. A job may report any text, and
// its release must succeed regardless.
func failureFrom(s string) string {
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return unicode.IsControl(r) || r == ' ' }), " ")
	if len(line) > semaphore.MaxName {
		line = strings.ToValidUTF8(line[:semaphore.MaxName], "")
	}
	return line
}

// toEnd converts the value directly, because the API uses the same values.
func toEnd(e semaphore.End) gatekeeperv1.PermitEnd { return gatekeeperv1.PermitEnd(e) }

// toReleased converts the result of a release. If a release had already ended the permit, the response says that it was
// released. Only a caller with its token can release a permit, so this call must be a retry.
func toReleased(r *fsm.ReleaseResult) *gatekeeperv1.ReleaseResponse {
	out := &gatekeeperv1.ReleaseResponse{Released: r.Released, Revision: r.Revision, Recorded: r.Recorded}
	ended := semaphore.NotEnded
	switch {
	case r.Released:
		out.Ended = toEnd(semaphore.EndReleased)
		return out
	case r.Ended != nil:
		ended, out.Revision = r.Ended.Outcome, max(r.Revision, r.Ended.Revision)
	case r.Permit != nil:
		ended = r.Permit.Ended
	}
	out.Ended = toEnd(ended)
	switch {
	case ended == semaphore.EndReleased:
		out.Released, out.Message = true, "it had already been released"
	case r.Permit != nil && r.Permit.State == semaphore.Held:
		out.Ended = toEnd(semaphore.EndExpired)
		out.Message = "it expired and is held for an operator to clear"
	case ended != semaphore.NotEnded:
		out.Message = "it had already ended: " + ended.String()
	default:
		out.Message = "there is no such permit: it ended long ago or was never granted"
	}
	return out
}
