package client

import (
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// domain is the domain of every google.rpc.ErrorInfo from Gatekeeper.
const domain = "gatekeeper"

// Reasons in google.rpc.ErrorInfo. They are frozen.
const (
	reasonNotLeader        = "NOT_LEADER"
	reasonNoLeader         = "NO_LEADER"
	reasonNotConfirmed     = "NOT_CONFIRMED"
	reasonOutcomeUnknown   = "OUTCOME_UNKNOWN"
	reasonNotAppended      = "NOT_APPENDED"
	reasonShuttingDown     = "SHUTTING_DOWN"
	reasonHopLimit         = "HOP_LIMIT"
	reasonWrongCluster     = "WRONG_CLUSTER"
	reasonInvalidField     = "INVALID_FIELD"
	reasonStaleVersion     = "STALE_VERSION"
	reasonAlreadyExists    = "ALREADY_EXISTS"
	reasonNoSuchDefinition = "NO_SUCH_DEFINITION"
	reasonNoMatch          = "NO_MATCH"
	reasonRevisionChanged  = "REVISION_CHANGED"
	reasonRequestEnded     = "REQUEST_ENDED"
	reasonRequestTooOld    = "REQUEST_TOO_OLD"
	reasonNoSuchPermit     = "NO_SUCH_PERMIT"
	reasonNoSuchCordon     = "NO_SUCH_CORDON"
	reasonChangedSince     = "CHANGED_SINCE"
	reasonRecovering       = "RECOVERING"
	reasonNoSuchJob        = "NO_SUCH_JOB"
	reasonJobDiffers       = "JOB_DIFFERS"
	reasonJobNotFinished   = "JOB_NOT_FINISHED"
	reasonSubmissionLost   = "SUBMISSION_LOST"
	reasonWorkLimit        = "WORK_LIMIT"
	reasonUnauthenticated  = "UNAUTHENTICATED"
	reasonForbidden        = "FORBIDDEN"
	reasonTooManyFailures  = "TOO_MANY_FAILURES"
)

// info returns the ErrorInfo of a status from Gatekeeper; nil for any other status.
func info(s *status.Status) *errdetails.ErrorInfo {
	for _, d := range s.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok && i.GetDomain() == domain {
			return i
		}
	}
	return nil
}

// leaderHint is a server's view of the current leader.
type leaderHint struct {
	address string
	term    uint64
	name    string // the name of the server at that address; empty if not given
}

func parseHint(i *errdetails.ErrorInfo) leaderHint {
	term, err := strconv.ParseUint(i.GetMetadata()["term"], 10, 64)
	if err != nil || i.GetMetadata()["leader_api"] == "" {
		return leaderHint{}
	}
	return leaderHint{address: withPort(i.GetMetadata()["leader_api"]), term: term, name: i.GetMetadata()["leader_name"]}
}

// retryDelay returns how long the server asks clients to wait before retrying, or 0 if it does not specify a delay.
func retryDelay(s *status.Status) time.Duration {
	for _, d := range s.Details() {
		if r, ok := d.(*errdetails.RetryInfo); ok {
			return min(max(r.GetRetryDelay().AsDuration(), 0), maxBackoff)
		}
	}
	return 0
}
