package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Calls are refused at the start of their goroutine, before the message is read. Refusing them earlier, in
// grpc.InTapHandle, would leak memory: gRPC does not cancel the context of a call refused there (operateHeaders in
// internal/transport/http2_server.go, version 1.85), and keeps a few kilobytes for it until its deadline, which the
// caller chooses.

// describe returns a service description that admits unary requests and decodes them with receive. For streams, the
// interceptor does this; for unary requests, it runs too late, after the message has been read.
func (a *API) describe(service *grpc.ServiceDesc) *grpc.ServiceDesc {
	d := *service
	d.Methods = make([]grpc.MethodDesc, len(service.Methods))
	for i, m := range service.Methods {
		name := "/" + service.ServiceName + "/" + m.MethodName
		kind := traitsOf(name).kind
		d.Methods[i] = m
		d.Methods[i].Handler = func(srv any, ctx context.Context, dec func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
			start := time.Now()
			call, err := a.admit(ctx, kind)
			if err != nil {
				return nil, a.finish(ctx, name, start, err)
			}
			defer call.End()
			if ctx, err = a.authenticate(ctx); err != nil {
				a.auditCall(ctx, name, nil, nil, err)
				return nil, a.finish(ctx, name, start, err)
			}
			receiving := func(message any) error {
				err := receive(dec, message)
				if err == nil {
					err = a.startWork(ctx, call, message)
				}
				if err != nil {
					return a.finish(ctx, name, start, err) // the interceptor will not run
				}
				return nil
			}
			return m.Handler(srv, ctx, receiving, interceptor)
		}
	}
	return &d
}

// unary intercepts every unary call.
func (a *API) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	start := time.Now()
	_ = grpc.SetHeader(ctx, a.cluster) // cannot fail before the first message
	reply, err := a.catchPanic(ctx, info.FullMethod, func() (any, error) { return a.forward.unary(ctx, req, info, handler) })
	return reply, a.finish(ctx, info.FullMethod, start, err)
}

// stream intercepts every stream. Its context is also cancelled when the server drains.
func (a *API) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	start := time.Now()
	_ = ss.SetHeader(a.cluster) // cannot fail before the first message
	call, err := a.admit(ss.Context(), traitsOf(info.FullMethod).kind)
	if err != nil {
		return a.finish(ss.Context(), info.FullMethod, start, err)
	}
	defer call.End()
	a.cfg.Metrics.StreamOpened(info.FullMethod)
	defer a.cfg.Metrics.StreamClosed(info.FullMethod)

	authCtx, err := a.authenticate(ss.Context())
	if err != nil && entitlements[info.FullMethod].public {
		authCtx, err = ss.Context(), nil
	}
	if err != nil {
		a.auditCall(authCtx, info.FullMethod, nil, nil, err)
		return a.finish(ss.Context(), info.FullMethod, start, err)
	}
	ctx, cancel := context.WithCancelCause(authCtx)
	defer cancel(nil)
	defer context.AfterFunc(a.draining, func() { cancel(ErrShuttingDown) })()
	_, err = a.catchPanic(ctx, info.FullMethod, func() (any, error) {
		if a.draining.Err() != nil {
			return nil, ErrShuttingDown
		}
		return nil, a.forward.stream(srv, &receivingStream{ServerStream: ss, ctx: ctx, api: a, call: call}, info, handler)
	})
	if endedByDrain(ctx, err) {
		err = ErrShuttingDown
	}
	return a.finish(ctx, info.FullMethod, start, err)
}

// receivingStream is a stream that decodes its messages with receive. It counts as working from its first message to
// its first response.
type receivingStream struct {
	grpc.ServerStream
	ctx  context.Context //nolint:containedctx // a stream returns its context
	api  *API
	call *admission.Call

	received bool // used by the receiver only
	answered bool // used by the sender only
}

func (s *receivingStream) Context() context.Context { return s.ctx }

func (s *receivingStream) RecvMsg(m any) error {
	err := receive(s.ServerStream.RecvMsg, m)
	if err != nil || s.received {
		return err
	}
	s.received = true
	return s.api.startWork(s.ctx, s.call, m)
}

func (s *receivingStream) SendMsg(m any) error {
	if !s.answered {
		s.answered = true
		s.call.Wait()
	}
	return s.ServerStream.SendMsg(m)
}

// endedByDrain reports whether a stream ended only because the server is draining. An unknown outcome remains unknown.
func endedByDrain(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), ErrShuttingDown) && !errors.Is(err, consensus.ErrUnknownOutcome) &&
		(errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled)
}

// catchPanic turns a panic into an error, so that a bug in one call does not stop the server.
func (a *API) catchPanic(ctx context.Context, method string, call func() (any, error)) (reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a call panicked", slog.String("method", method),
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			reply, err = nil, errPanic
		}
	}()
	return call()
}

// finish counts a finished call and converts its error to a status.
func (a *API) finish(ctx context.Context, method string, start time.Time, err error) error {
	if err == nil {
		a.cfg.Metrics.CallEnded(method, codes.OK, "", time.Since(start))
		return nil
	}
	err = toStatus(a.rewordNotReady(err))
	s := status.Convert(err)
	if s.Code() == codes.Internal {
		a.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a call failed", slog.String("method", method), slog.String("error", s.Message()))
	}
	a.cfg.Metrics.CallEnded(method, s.Code(), reasonOf(s), time.Since(start))
	return err
}

// rewordNotReady rewords a NotLeaderError that names this server. This server was elected but is not ready to lead, so
// there is no other server to suggest.
func (a *API) rewordNotReady(err error) error {
	e, ok := errors.AsType[*consensus.NotLeaderError](err)
	if !ok || e.Leader.ID != a.cfg.ID || errors.Is(err, consensus.ErrUnknownOutcome) {
		return err
	}
	return fmt.Errorf("this server has been elected and is preparing to lead: %w", &consensus.NotLeaderError{})
}

// admit admits or refuses a call before its message is read.
func (a *API) admit(ctx context.Context, kind admission.Kind) (*admission.Call, error) {
	call, err := a.cfg.Admission.Open(kind, connectionOf(ctx))
	if err != nil {
		a.overloads.note(ctx, a.cfg.Logger, err, admission.Identity{})
	}
	return call, err
}

// startWork marks an admitted call as working once its message has been read.
func (a *API) startWork(ctx context.Context, call *admission.Call, message any) error {
	var identity admission.Identity
	if m, ok := message.(interface {
		GetIdentity() *gatekeeperv1.Identity
	}); ok {
		id := identityFrom(m.GetIdentity())
		identity = admission.Identity{Group: id.Group, Acquirer: id.Acquirer}
	}
	err := call.Work(ctx, identity)
	if err != nil && ctx.Err() == nil {
		a.overloads.note(ctx, a.cfg.Logger, err, identity)
	}
	return err
}

// connectionOf returns a key that identifies the client's connection, or nil if another member forwards calls over it.
// gRPC creates one peer.Peer per connection and shares it among the calls. Callers on the HTTP port are identified by
// their address and credentials.
func connectionOf(ctx context.Context) any {
	p, ok := peer.FromContext(ctx)
	if !ok || len(metadata.ValueFromIncomingContext(ctx, HopHeader)) > 0 {
		return nil
	}
	if fromGateway(ctx) {
		return gatewayClientOf(ctx)
	}
	return p
}
