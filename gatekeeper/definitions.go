package gatekeeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/api"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/keeper"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// declarationRetry is how long a leader waits after it could not declare its definitions.
const declarationRetry = time.Second

// declarationBatch is how many definitions one command declares: an edit of the API holds as many. Declaring is
// idempotent, so that several commands do no harm.
const declarationBatch = 10_000

// definitionsOf reads definitions and checks them, as an edit would with the default settings of a cluster. The error
// is a *DefinitionError.
func definitionsOf(messages []*gatekeeperv1.Definition) ([]*semaphore.Definition, error) {
	all := make([]*semaphore.Definition, len(messages))
	seen := make(map[string]int, len(messages))
	for i, m := range messages {
		d, err := api.DefinitionFrom(m)
		if err == nil {
			err = d.Validate(semaphore.DefaultMaxDuration)
		}
		if first, ok := seen[m.GetName()]; ok && err == nil {
			err = &semaphore.FieldError{Field: "name", Value: m.GetName(), Rule: fmt.Sprintf("must be used once, and definition %d has it too", first)}
		}
		if err != nil {
			broken := &DefinitionError{Index: i, Name: m.GetName(), Err: err}
			if field, ok := errors.AsType[*semaphore.FieldError](err); ok {
				broken.Field = field.Field
			}
			return nil, broken
		}
		seen[m.GetName()], all[i] = i, d
	}
	return all, nil
}

// declare creates the definitions that were never there, and tries again until that is done or ctx ends with the
// leadership.
func (l *leading) declare(ctx context.Context) {
	missing := l.missing()
	if skipped := len(l.definitions) - len(missing); skipped > 0 {
		l.log.Info("definitions that exist or were deleted are left as they are", slog.Int("definitions", skipped))
	}
	for batch := range slices.Chunk(missing, declarationBatch) {
		edit := fsm.EditBatch{Author: "gatekeeperd", Reason: "definitions file", At: time.Now()}
		for _, d := range batch {
			edit.Changes = append(edit.Changes, fsm.Change{Kind: fsm.Declare, Name: d.Name, Definition: d})
		}
		if !l.edit(ctx, edit) {
			return
		}
	}
}

// missing are the definitions to declare. It only saves the log from what would be skipped: whether a definition is, or
// was ever there, is decided when the command is applied.
func (l *leading) missing() []*semaphore.Definition {
	state := l.state()
	return slices.DeleteFunc(slices.Clone(l.definitions), func(d *semaphore.Definition) bool {
		return state.Definition(d.Name) != nil || state.WasDeleted(d.Name)
	})
}

// edit makes one edit, and says whether to go on with the next.
func (l *leading) edit(ctx context.Context, edit fsm.EditBatch) bool {
	for {
		result, err := l.keeper.Edit(ctx, edit, keeper.Ending{})
		if err == nil {
			l.log.Info("declared definitions", slog.Int("created", len(edit.Changes)-len(result.Skipped)),
				slog.Int("skipped", len(result.Skipped)), slog.Uint64("revision", result.Revision))
			return true
		}
		if bad, ok := errors.AsType[*keeper.EditFieldError](err); ok {
			// The cluster's settings are narrower than the defaults. No retry helps, and the cluster serves without.
			l.log.Error("cannot declare definitions: correct the one at fault and start this server again",
				slog.String("semaphore", bad.Name), slog.Any("error", bad.Err))
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(declarationRetry):
			l.log.Warn("could not declare definitions, trying again", slog.Any("error", err))
		}
	}
}
