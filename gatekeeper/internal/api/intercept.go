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
	"google.golang.org/grpc/status"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
)

// unary is what every unary call passes.
func (a *API) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	began := time.Now()
	_ = grpc.SetHeader(ctx, a.cluster) // nothing was sent yet
	reply, err := a.caught(ctx, info.FullMethod, func() (any, error) { return a.forward.unary(ctx, req, info, handler) })
	return reply, a.ended(ctx, info.FullMethod, began, err)
}

// stream is what every stream passes. Its context ends with the draining of the server too.
func (a *API) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	began := time.Now()
	_ = ss.SetHeader(a.cluster) // nothing was sent yet
	call, err := a.admit(ss.Context(), kindOf(info.FullMethod))
	if err != nil {
		return a.ended(ss.Context(), info.FullMethod, began, err)
	}
	defer call.End()
	a.cfg.Metrics.StreamOpened(info.FullMethod)
	defer a.cfg.Metrics.StreamClosed(info.FullMethod)

	ctx, cancel := context.WithCancelCause(ss.Context())
	defer cancel(nil)
	defer context.AfterFunc(a.draining, func() { cancel(ErrShuttingDown) })()
	_, err = a.caught(ctx, info.FullMethod, func() (any, error) {
		if a.draining.Err() != nil {
			return nil, ErrShuttingDown
		}
		return nil, a.forward.stream(srv, &receiving{ServerStream: ss, ctx: ctx, api: a, call: call}, info, handler)
	})
	if cut(ctx, err) {
		err = ErrShuttingDown
	}
	return a.ended(ctx, info.FullMethod, began, err)
}

// cut says that a stream ended because the server drains, and for nothing else: what is unknown stays unknown.
func cut(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), ErrShuttingDown) && !errors.Is(err, consensus.ErrUnknownOutcome) &&
		(errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled)
}

// caught turns a panic into an error, so that one call's fault is not everybody's.
func (a *API) caught(ctx context.Context, method string, call func() (any, error)) (reply any, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a call panicked", slog.String("method", method),
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			reply, err = nil, errPanic
		}
	}()
	return call()
}

// ended counts a call and gives its error the form in which it is answered.
func (a *API) ended(ctx context.Context, method string, began time.Time, err error) error {
	if err == nil {
		a.cfg.Metrics.CallEnded(method, codes.OK, "", time.Since(began))
		return nil
	}
	err = toStatus(a.unready(err))
	s := status.Convert(err)
	if s.Code() == codes.Internal {
		a.cfg.Logger.LogAttrs(ctx, slog.LevelError, "a call failed", slog.String("method", method), slog.String("error", s.Message()))
	}
	a.cfg.Metrics.CallEnded(method, s.Code(), reasonOf(s), time.Since(began))
	return err
}

// unready rewords a NotLeaderError that names this server itself: it was elected and is not ready to lead, so there is
// nobody to go to yet.
func (a *API) unready(err error) error {
	e, ok := errors.AsType[*consensus.NotLeaderError](err)
	if !ok || e.Leader.ID != a.cfg.ID || errors.Is(err, consensus.ErrUnknownOutcome) {
		return err
	}
	return fmt.Errorf("this server was elected and prepares to lead: %w", &consensus.NotLeaderError{})
}
