package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// joinAttempt is the timeout for one request to one server, whose cluster may be electing a leader.
	joinAttempt = 10 * time.Second
	// The wait between rounds of requests to all servers doubles from joinMinWait to joinMaxWait.
	joinMinWait = 250 * time.Millisecond
	joinMaxWait = 10 * time.Second
)

// joiner asks the servers of an existing cluster to add this server.
type joiner struct {
	servers     []string // API addresses
	credentials credentials.TransportCredentials
	id          string
	peerAddress string
	nonVoter    bool
	log         *slog.Logger
}

// join asks each server in turn to add this one, in rounds until ctx ends, and returns the cluster's id. Repeating a
// request is harmless: a member at the same address gets the same response. The error is ErrJoinRefused if retrying
// cannot help, otherwise ErrJoin.
//
// If an outcome is unknown, a leader may have added this server and then lost leadership. Later requests then ask the
// new leader for the vote that the previous one would have granted.
func (j *joiner) join(ctx context.Context) (clusterID string, err error) {
	maybeAccepted := false
	for wait := joinMinWait; ; wait = min(2*wait, joinMaxWait) {
		for _, server := range j.servers {
			clusterID, err = j.sendRequest(ctx, server, !maybeAccepted)
			if err == nil || joinRefused(err) {
				return clusterID, err
			}
			if ctx.Err() != nil {
				return "", fmt.Errorf("%w: %w; last error: %w", ErrJoin, context.Cause(ctx), err)
			}
			maybeAccepted = maybeAccepted || outcomeUnknown(err)
			j.log.Warn("cannot join yet", slog.String("server", server), slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %w; last error: %w", ErrJoin, context.Cause(ctx), err)
		case <-time.After(wait):
		}
	}
}

func joinRefused(err error) bool { return errors.Is(err, ErrJoinRefused) }

// outcomeUnknown reports whether a server may have added this one even though the call failed.
func outcomeUnknown(err error) bool {
	if status.Code(err) == codes.DeadlineExceeded {
		return true
	}
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetReason() == "OUTCOME_UNKNOWN" {
			return true
		}
	}
	return false
}

// sendRequest sends the request to one server. first means that no leader can have added this server yet.
func (j *joiner) sendRequest(ctx context.Context, server string, first bool) (clusterID string, err error) {
	conn, err := grpc.NewClient(server, grpc.WithTransportCredentials(j.credentials), grpc.WithNoProxy())
	if err != nil {
		return "", fmt.Errorf("%s: %w", server, err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(ctx, joinAttempt)
	defer cancel()
	resp, err := gatekeeperv1.NewClusterServiceClient(conn).AddMember(ctx, &gatekeeperv1.AddMemberRequest{
		Id: j.id, PeerAddress: j.peerAddress, NonVoter: j.nonVoter, Joining: first,
	})
	switch status.Code(err) {
	case codes.OK:
		return resp.GetClusterId(), nil
	case codes.InvalidArgument, codes.AlreadyExists, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
		return "", fmt.Errorf("%w: %s: %s", ErrJoinRefused, server, status.Convert(err).Message())
	}
	return "", fmt.Errorf("%s: %w", server, err)
}
