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

// declarationRetry is how long a leader waits after a failed attempt to declare its definitions.
const declarationRetry = time.Second

// declarationBatch is the maximum number of definitions in one command, the same as the API's limit for one edit.
// Declaring is idempotent, so splitting the definitions across commands is harmless.
const declarationBatch = 10_000

// convertDefinitions converts and validates definitions, as an edit would with a cluster's default settings. The error
// is a *DefinitionError.
func convertDefinitions(messages []*gatekeeperv1.Definition) ([]*semaphore.Definition, error) {
	all := make([]*semaphore.Definition, len(messages))
	seen := make(map[string]int, len(messages))
	for i, m := range messages {
		d, err := api.DefinitionFrom(m)
		if err == nil {
			err = d.Validate(semaphore.DefaultMaxDuration)
		}
		if first, ok := seen[m.GetName()]; ok && err == nil {
			err = &semaphore.FieldError{Field: "name", Value: m.GetName(), Rule: fmt.Sprintf("must be unique, but definition %d has the same name", first)}
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

// declare creates the configured definitions that have never existed. It retries until it succeeds, or until ctx ends
// because leadership was lost.
func (l *leaderTasks) declare(ctx context.Context) {
	missing := l.missing()
	if skipped := len(l.definitions) - len(missing); skipped > 0 {
		l.log.Info("skipped definitions that already exist or were deleted", slog.Int("definitions", skipped))
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

// missing returns the definitions to declare. It only avoids log entries that would have no effect: the command itself
// decides, when it is applied, whether a definition exists or ever existed.
func (l *leaderTasks) missing() []*semaphore.Definition {
	state := l.state()
	return slices.DeleteFunc(slices.Clone(l.definitions), func(d *semaphore.Definition) bool {
		return state.Definition(d.Name) != nil || state.WasDeleted(d.Name)
	})
}

// edit makes one edit and reports whether the caller should continue with the next.
func (l *leaderTasks) edit(ctx context.Context, edit fsm.EditBatch) bool {
	for {
		result, err := l.keeper.Edit(ctx, edit, keeper.Ending{})
		if err == nil {
			l.log.Info("declared definitions", slog.Int("created", len(edit.Changes)-len(result.Skipped)),
				slog.Int("skipped", len(result.Skipped)), slog.Uint64("revision", result.Revision))
			return true
		}
		if bad, ok := errors.AsType[*keeper.EditFieldError](err); ok {
			// The cluster's settings are stricter than the defaults. Retrying cannot help, so the cluster serves
			// without these definitions.
			l.log.Error("cannot declare definitions: correct the invalid one and restart this server",
				slog.String("semaphore", bad.Name), slog.Any("error", bad.Err))
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(declarationRetry):
			l.log.Warn("could not declare definitions, retrying", slog.Any("error", err))
		}
	}
}
