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

// A call whose answer was lost is repeated with its request id, and answered as the first one was. The state machine
// remembers that answer, with a hash of what the call asked for: an id that is used for something else is a mistake,
// and must not be answered as if it were done.

// repeatable is a call of an operator with a request id.
type repeatable interface {
	proto.Message
	GetRequestId() string
	GetRequestRevision() uint64
}

// asked is the hash of what an operator's call asks for, as its caller gave it: what a selector finds may change. It is
// never 0. Who asks and why does not count. Nor does it when something ends, but for whether it does: what lasts an
// hour, or until two o'clock, names another instant when a person repeats it.
func asked(m repeatable) uint64 {
	what := proto.Clone(m).ProtoReflect()
	fields := what.Descriptor().Fields()
	ends := false
	for _, name := range []protoreflect.Name{"request_id", "request_revision", "author", "reason", "dry_run", "plan", "expected", "until", "lasts"} {
		if f := fields.ByName(name); f != nil && what.Has(f) {
			ends = ends || name == "until" || name == "lasts"
			what.Clear(f)
		}
	}
	return hashOf(what.Interface(), ends)
}

// askedEdits is the hash of what edits ask for: what shall be there after them. A caller who looks before it repeats
// replaces what its first attempt created, so kinds and versions do not count.
func askedEdits(batch *fsm.EditBatch, end keeper.Ending) (uint64, error) {
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

func hashOf(m proto.Message, ends bool) uint64 {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return 0 // it was received, so it can be sent; a hash that is not known matches every other
	}
	return hash(append(bytes, m.ProtoReflect().Descriptor().Name()...), ends)
}

func hash(bytes []byte, ends bool) uint64 {
	if ends {
		bytes = append(bytes, "ends"...)
	}
	sum := sha256.Sum256(bytes)
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// decideFrom reads the state that a change is decided from, and returns the earlier change of which the call is a
// repeat; nil if it is none. A repeat is answered from what is remembered. Its selector is not evaluated again, because
// the state may have changed since, not least by the change itself. Two errors refuse the call before anything is
// decided, and again when the command is applied, because another attempt may arrive in between: a
// *keeper.RequestReusedError an id that belongs to another change, a *keeper.RequestTooOldError a change that may have
// been made and forgotten.
func (s *operatorService) decideFrom(
	ctx context.Context, m repeatable, kind fsm.EditKind, asked uint64,
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
	case done.Edit != kind || !done.Matches(asked):
		return nil, nil, keeper.Reused(done, kind)
	}
	return state, done, nil
}
