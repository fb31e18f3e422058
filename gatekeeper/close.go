package gatekeeper

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// transferTimeout bounds the hand-over of leadership while closing: the others find a new leader without it, only
// later.
const transferTimeout = 3 * time.Second

// releaseTimeout is what closing may take after the drain has used up all the time: a log that is closed properly opens
// sooner.
const releaseTimeout = 5 * time.Second

// Close ends the server: health says NOT_SERVING and streams are ended, so that clients go elsewhere; leadership is
// handed to another voter; calls under way are answered; then everything is closed. When ctx ends, what is left is cut
// off and the error says so; the server has ended in any case. Only a store call that hangs keeps DataDir locked until
// it returns. Closing again returns what the first call returned.
func (s *Server) Close(ctx context.Context) error {
	s.closing.Do(func() {
		s.closeErr = s.drain(ctx)
		s.closeErr = errors.Join(s.closeErr, s.release(ctx))
		s.end(nil)
		s.log.Info("stopped")
	})
	return s.closeErr
}

// drain sends clients away and lets calls under way end, or cuts them off when ctx ends.
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
		return errors.Join(errors.New("calls under way were cut off"), context.Cause(ctx))
	}
}

// transfer hands leadership over when this server leads others. After a fault it does not: who knows what it would hand
// over.
func (s *Server) transfer(ctx context.Context) {
	if s.Err() != nil || s.node.Leader().ID != s.cfg.ID {
		return
	}
	members, err := s.node.Members()
	if err != nil {
		return // closing anyway, and the others find a leader by themselves
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
		s.log.Warn("leadership was not handed over: the others will find a leader by themselves", slog.Any("error", err))
	}
}

// release closes everything that was opened, the last first. It takes at most releaseTimeout more when ctx has ended.
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
		s.grpc.Stop() // nothing, after a graceful stop
	}
	s.running.Wait()
	for _, closeOne := range slices.Backward(s.opened) {
		errs = append(errs, closeOne(ctx))
	}
	return errors.Join(errs...)
}
