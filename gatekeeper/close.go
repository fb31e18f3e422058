package gatekeeper

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// transferTimeout bounds the leadership transfer in Close. Without the transfer, the other members still elect a
// leader, but it takes longer.
const transferTimeout = 3 * time.Second

// releaseTimeout is how much longer Close may take after draining has timed out. It leaves time to close the log
// properly, so that the log opens faster next time.
const releaseTimeout = 5 * time.Second

// Close stops the server. It reports NOT_SERVING to health checks and ends streams so that clients move to other
// servers, transfers leadership to another voter, waits for calls in progress, and then closes everything. When ctx
// ends, Close cuts off the remaining calls and returns an error that says so; the server has stopped either way. If a
// store call hangs, DataDir remains locked until that call returns. Later calls return the first call's result.
func (s *Server) Close(ctx context.Context) error {
	s.closing.Do(func() {
		s.closeErr = s.drain(ctx)
		s.closeErr = errors.Join(s.closeErr, s.release(ctx))
		s.closeDone(nil)
		s.log.Info("stopped")
	})
	return s.closeErr
}

// drain sends clients away and waits for calls in progress. It cuts them off when ctx ends.
func (s *Server) drain(ctx context.Context) error {
	s.api.Drain()
	s.transfer(ctx)
	graceful := make(chan struct{})
	s.running.Go(func() {
		s.web.drain(ctx)
		s.grpc.GracefulStop()
		close(graceful)
	})
	select {
	case <-graceful:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		<-graceful
		return errors.Join(errors.New("calls in progress were cut off"), context.Cause(ctx))
	}
}

// transfer transfers leadership to another voter, if there is one. It does nothing after a fault, because this server's
// state can no longer be trusted.
func (s *Server) transfer(ctx context.Context) {
	if s.Err() != nil || s.node.Leader().ID != s.cfg.ID {
		return
	}
	members, err := s.node.Members()
	if err != nil {
		return // closing anyway, and the other members will elect a leader
	}
	voters := 0
	for _, m := range members {
		if m.Voter {
			voters++
		}
	}
	if voters < 2 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	if err := s.node.Transfer(ctx, ""); err != nil {
		s.log.Warn("could not transfer leadership: the other members will elect a leader", slog.Any("error", err))
	}
}

// release closes everything that was opened, in reverse order. If ctx has ended, it takes at most releaseTimeout more.
func (s *Server) release(ctx context.Context) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
	}
	var errs []error
	close(s.stop)
	s.web.close()
	if s.admin != nil {
		errs = append(errs, s.admin.Close())
	}
	if s.grpc != nil {
		s.grpc.Stop() // a no-op after a graceful stop
	}
	s.running.Wait()
	for _, closeOne := range slices.Backward(s.closers) {
		errs = append(errs, closeOne(ctx))
	}
	return errors.Join(errs...)
}
