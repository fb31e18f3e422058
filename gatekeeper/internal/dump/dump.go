// Package dump writes the state to the log as structured lines, for debugging and for log search tools: one line for
// the whole state, one for each semaphore in use, and one for each permit. It reads an immutable state, so the lines of
// a dump are consistent with each other, and writing them blocks nothing.
package dump

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gatekeeperd/gatekeeper/fsm"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// MaxLines limits the number of lines in a dump, so that a large state does not flood the log.
const MaxLines = 10_000

// Log messages. They are frozen, because tools search for them.
const (
	MsgState     = "state"
	MsgSemaphore = "state of semaphore"
	MsgPermit    = "state of permit"
	MsgOmitted   = "state left out"
)

// View is the content of one dump.
type View struct {
	State *fsm.State
	// Role, Leader and Term are from this server's point of view.
	Role, Leader string
	Term         uint64
	// Waiting is the number of waiters by semaphore. Only the leader has any.
	Waiting map[string]int
	// Remaining returns the time until a permit expires, or false if this server does not know it.
	Remaining func(token uint64) (time.Duration, bool)
}

// Write logs a view at level info, in at most MaxLines lines, plus one with the number of omitted lines if there are
// more.
func Write(ctx context.Context, log *slog.Logger, v View) {
	write(ctx, log, v, MaxLines)
}

func write(ctx context.Context, log *slog.Logger, v View, limit int) {
	d := dump{ctx: ctx, log: log, left: limit}
	s := v.State
	waiters := 0
	for _, n := range v.Waiting {
		waiters += n
	}
	d.line(MsgState,
		slog.Uint64("revision", s.Revision()),
		slog.Uint64("index", s.Index()),
		slog.Int("definitions", s.DefinitionCount()),
		slog.Int("permits", s.PermitCount()),
		slog.Int("waiters", waiters),
		slog.String("role", v.Role),
		slog.String("leader", v.Leader),
		slog.Uint64("term", v.Term),
	)
	for _, name := range inUse(s, v.Waiting) {
		d.semaphore(s, name, v.Waiting[name])
		if d.left == 0 { // count the remaining permits without reading them
			d.omitted += s.HolderCount(name)
			continue
		}
		for p := range s.Holders(name) {
			d.permit(p, v.Remaining)
		}
	}
	if d.omitted > 0 {
		log.LogAttrs(ctx, slog.LevelInfo, MsgOmitted, slog.Int("lines", d.omitted), slog.Int("limit", limit))
	}
}

// inUse returns the sorted names of semaphores that have permits, waiters or jobs, or are paused. Permits may outlive
// their definition.
func inUse(s *fsm.State, waiting map[string]int) []string {
	var names []string
	for name := range waiting {
		names = append(names, name)
	}
	for d := range s.Definitions("") {
		if d.Pause != nil {
			names = append(names, d.Definition.Name)
		}
	}
	for from := ""; ; {
		name, ok := firstHeld(s, from)
		if !ok {
			break
		}
		names = append(names, name)
		from = name + "\x00" // the smallest name after this one
	}
	for name := range s.WorkBySemaphore() {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// firstHeld returns the first semaphore at or after from that has permits.
func firstHeld(s *fsm.State, from string) (string, bool) {
	for p := range s.HoldersFrom(from, 0) {
		return p.Semaphore, true
	}
	return "", false
}

// dump writes lines up to a limit and counts the rest.
type dump struct {
	ctx     context.Context //nolint:containedctx // lives for one call of Write
	log     *slog.Logger
	left    int
	omitted int
}

func (d *dump) line(msg string, attrs ...slog.Attr) {
	if d.left == 0 {
		d.omitted++
		return
	}
	d.left--
	d.log.LogAttrs(d.ctx, slog.LevelInfo, msg, attrs...)
}

func (d *dump) semaphore(s *fsm.State, name string, waiters int) {
	attrs := []slog.Attr{
		slog.String("semaphore", name),
		slog.Uint64("used", s.Used(name)),
		slog.Int("waiters", waiters),
	}
	if w := s.Work(name); w.Jobs > 0 {
		attrs = append(attrs, slog.Int("jobs", w.Jobs), slog.Uint64("tasks_waiting", w.Waiting), slog.Uint64("tasks_held", w.Held))
	}
	stored := s.Definition(name)
	if stored == nil {
		d.line(MsgSemaphore, append(attrs, slog.Bool("deleted", true))...)
		return
	}
	def := stored.Definition
	attrs = append(attrs,
		slog.String("group_pattern", def.GroupPattern),
		slog.String("acquirer_pattern", def.AcquirerPattern),
		slog.Uint64("permits", uint64(def.Permits)),
		slog.String("duration", def.Duration.String()),
		slog.Uint64("version", stored.Version),
		slog.Bool("paused", stored.Pause != nil),
	)
	if stored.Pause != nil {
		attrs = append(attrs, slog.String("pause_reason", stored.Pause.Reason))
	}
	d.line(MsgSemaphore, attrs...)
}

func (d *dump) permit(p *semaphore.Permit, remaining func(uint64) (time.Duration, bool)) {
	attrs := []slog.Attr{
		slog.String("semaphore", p.Semaphore),
		slog.String("group", p.Identity.Group),
		slog.String("acquirer", p.Identity.Acquirer),
		slog.String("holder", p.Identity.HolderID),
		slog.Uint64("weight", uint64(p.Weight)),
		slog.Uint64("token", p.Token),
		slog.String("state", p.State.String()),
		slog.Time("granted_at", p.GrantedAt()),
	}
	if p.Stop != semaphore.NotStopping {
		attrs = append(attrs, slog.String("stop", p.Stop.String()))
	}
	if left, ok := remaining(p.Token); ok {
		attrs = append(attrs, slog.String("expires_in", left.Round(time.Millisecond).String()))
	}
	d.line(MsgPermit, attrs...)
}
