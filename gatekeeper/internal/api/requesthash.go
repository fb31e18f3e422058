package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// If the response to a call is lost, the caller retries with the same request id and gets the original response. The
// state machine stores the result with a hash of the request. If the id is reused for a different request, the server
// refuses that request instead of responding as if it had been carried out.

// retryable is an operator request with a request id.
type retryable interface {
	proto.Message
	GetRequestId() string
	GetRequestRevision() uint64
}

// requestHash returns the hash of an operator's request as written by the caller, because a selector's result may
// change between attempts. The hash is never 0. It ignores the author and the reason. It covers whether the change has
// an end time but not the time itself, because "for an hour" or "until two o'clock" means a different instant when a
// person retries the call.
func requestHash(m retryable) uint64 {
	clone := proto.Clone(m).ProtoReflect()
	fields := clone.Descriptor().Fields()
	hasEnd := false
	for _, name := range []protoreflect.Name{"request_id", "request_revision", "author", "reason", "dry_run", "plan", "expected", "until", "duration"} {
		if f := fields.ByName(name); f != nil && clone.Has(f) {
			hasEnd = hasEnd || name == "until" || name == "duration"
			clone.Clear(f)
		}
	}
	return hashMessage(clone.Interface(), hasEnd)
}

// editsHash returns the hash of the definitions that the edits should produce. It ignores kinds and versions, because a
// caller that reads the state before retrying then replaces the definitions that its first attempt created.
func editsHash(batch *fsm.EditBatch, end keeper.Ending) (uint64, error) {
	plain := fsm.EditBatch{Changes: make([]fsm.Change, len(batch.Changes)), Drain: batch.Drain}
	for i, c := range batch.Changes {
		plain.Changes[i] = fsm.Change{Kind: fsm.Delete, Name: c.Name}
		if c.Kind != fsm.Delete {
			plain.Changes[i] = fsm.Change{Kind: fsm.Create, Name: c.Name, Definition: c.Definition}
		}
	}
	entry, err := fsm.Encode(fsm.SupportedLevel, []fsm.Command{plain})
	if err != nil {
		return 0, err
	}
	return hash(entry, end != keeper.Ending{}), nil
}

func hashMessage(m proto.Message, hasEnd bool) uint64 {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return 0 // cannot happen for a message that was received; an unknown hash matches any hash
	}
	return hash(append(bytes, m.ProtoReflect().Descriptor().Name()...), hasEnd)
}

func hash(bytes []byte, hasEnd bool) uint64 {
	if hasEnd {
		bytes = append(bytes, "ends"...)
	}
	sum := sha256.Sum256(bytes)
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// readForChange reads the state on which a change is based. If the call is a retry, it also returns the earlier change;
// otherwise, done is nil. A retry is answered from the stored result. Its selector is not evaluated again, because the
// state may have changed since then, if only as a result of the change itself.
//
// It returns a *keeper.RequestReusedError if the id belongs to a different change, and a *keeper.RequestTooOldError if
// the change may have been made and forgotten. Both are checked here and again when the command is applied, because
// another attempt may be applied between the two checks.
func (s *operatorService) readForChange(
	ctx context.Context, m retryable, kind fsm.EditKind, requestHash uint64,
) (state *fsm.State, done *fsm.Remembered, err error) {
	if err := semaphore.ValidateRequestID(m.GetRequestId()); err != nil {
		return nil, nil, err
	}
	if state, err = s.reader.Read(ctx); err != nil || m.GetRequestId() == "" {
		return state, nil, err
	}
	done = state.EditRequest(m.GetRequestId())
	switch {
	case done == nil:
		if old := state.TooOld("", m.GetRequestRevision()); old != nil {
			return nil, nil, keeper.TooOld(m.GetRequestId(), old)
		}
	case done.Edit != kind || !done.Matches(requestHash):
		return nil, nil, keeper.Reused(done, kind)
	}
	return state, done, nil
}
