package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
)

// overloads logs refusals, at most once every warnInterval. The log shows when an overload began, and each warning
// counts the calls refused since the previous one. Refusals after the last warning appear only in the metrics.
type overloads struct {
	mu      sync.Mutex // guards the fields below
	refused int        // since the last warning
	warned  time.Time
}

// warnInterval is the minimum time between two warnings.
const warnInterval = 10 * time.Second

// note counts a refusal and logs a warning, unless one was logged within warnInterval. The identity is empty if the
// call was refused before its message was read.
func (o *overloads) note(ctx context.Context, log *slog.Logger, err error, identity admission.Identity) {
	now := time.Now()
	o.mu.Lock()
	o.refused++
	refused := o.refused
	silent := !o.warned.IsZero() && now.Sub(o.warned) < warnInterval
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
	log.LogAttrs(ctx, slog.LevelWarn, "calls were refused: this server is overloaded", attrs...)
}
