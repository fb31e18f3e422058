package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
)

// overloads warns of refusals, at most once in warnEvery. The log shows that there was an overload, when it began and
// how many calls it cost so far. The refusals after the last warning are in the metrics only.
type overloads struct {
	mu      sync.Mutex // guards the fields below
	refused int        // since the last warning
	warned  time.Time
}

// warnEvery is the time between two warnings.
const warnEvery = 10 * time.Second

// note counts a refusal, and logs it if a warning is due. The identity is empty if the call was refused before its
// message was read.
func (o *overloads) note(ctx context.Context, log *slog.Logger, err error, identity admission.Identity) {
	now := time.Now()
	o.mu.Lock()
	o.refused++
	refused := o.refused
	silent := !o.warned.IsZero() && now.Sub(o.warned) < warnEvery
	if !silent {
		o.refused, o.warned = 0, now
	}
	o.mu.Unlock()
	if silent {
		return
	}
	attrs := []slog.Attr{slog.Int("refused", refused), slog.String("last", err.Error())}
	if identity != (admission.Identity{}) {
		attrs = append(attrs, slog.String("group", identity.Group), slog.String("acquirer", identity.Acquirer))
	}
	if source := sourceOf(ctx); source != "" {
		attrs = append(attrs, slog.String("from", source))
	}
	log.LogAttrs(ctx, slog.LevelWarn, "calls were refused: more come than this server can do", attrs...)
}
