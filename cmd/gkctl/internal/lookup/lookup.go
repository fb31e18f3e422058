package lookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxCallerLines is the maximum number of denied callers listed in the error for an undefined name.
	maxCallerLines = 3
	// noteTimeout limits the time spent on requests for additional notes.
	noteTimeout = 2 * time.Second
)

// IsGlob reports whether an argument is a glob. Names cannot contain glob characters.
func IsGlob(arg string) bool { return strings.ContainsAny(arg, "*?[]") }

// MaxNames is the maximum number of names and globs in one request.
const MaxNames = 100

// Definitions returns the definitions that match names and labels. It returns an error for a name (not a glob) without
// a definition, unless labels are given too.
func Definitions(ctx context.Context, c *client.Client, names []string, labels string) ([]*gatekeeperv1.DefinitionRecord, error) {
	all, err := List(ctx, c, &gatekeeperv1.ListDefinitionsRequest{Names: names, Labels: labels})
	if err == nil && labels == "" {
		err = CheckDefined(ctx, c, names, namesOf(all))
	}
	return all, err
}

// List returns the requested definitions, without duplicates. The request may contain more names than one call accepts.
func List(ctx context.Context, c *client.Client, req *gatekeeperv1.ListDefinitionsRequest) (all []*gatekeeperv1.DefinitionRecord, err error) {
	names, seen := req.GetNames(), make(map[string]bool)
	for first := true; first || len(names) > 0; first = false {
		req.Names = names[:min(len(names), MaxNames)]
		names = names[len(req.Names):]
		for r, err := range c.AllDefinitions(ctx, req) {
			if err != nil {
				return nil, err
			}
			if name := r.GetDefinition().GetName(); !seen[name] {
				seen[name] = true
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func namesOf(records []*gatekeeperv1.DefinitionRecord) []string {
	return words.Map(records, func(r *gatekeeperv1.DefinitionRecord) string { return r.GetDefinition().GetName() })
}

// Chosen is like Definitions, but for commands that change definitions. It returns an error if nothing matches, even if
// an older server ignores must_match and returns an empty list.
func Chosen(ctx context.Context, c *client.Client, names []string, labels string) ([]*gatekeeperv1.DefinitionRecord, error) {
	all, err := Definitions(ctx, c, names, labels)
	if err != nil || len(all) > 0 {
		return all, err
	}
	// The servers' error suggests the right name.
	all, err = List(ctx, c, &gatekeeperv1.ListDefinitionsRequest{Names: names, Labels: labels, MustMatch: true})
	if err != nil || len(all) > 0 {
		return all, err
	}
	text := "there are no definitions"
	if len(names) > 0 {
		text = "no definitions match " + strings.Join(words.Map(names, strconv.Quote), " or ")
	}
	if labels != "" {
		text += fmt.Sprintf(" with the labels %q", labels)
	}
	return nil, &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(text), Hint: ui.HintNoMatch}
}

// Denials returns the denials recorded by the leader. They are only used for notes, so errors from the leader are
// ignored, including those from older versions that lack this call.
func Denials(ctx context.Context, c *client.Client, req *gatekeeperv1.ListDeniedRequest) *gatekeeperv1.ListDeniedResponse {
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	r, err := c.Operator().ListDenied(ctx, req)
	if err != nil {
		return new(gatekeeperv1.ListDeniedResponse)
	}
	if req.PageToken = r.GetNextPageToken(); req.GetPageToken() != "" {
		for d, err := range c.AllDenied(ctx, req) {
			if err == nil {
				r.Callers = append(r.Callers, d)
			}
		}
	}
	return r
}

// DeniedLines returns the servers' descriptions of the first callers, up to limit, followed by the number of remaining
// callers.
func DeniedLines(callers []*gatekeeperv1.DeniedCaller, limit int) []string {
	lines := words.Map(callers[:min(len(callers), limit)], func(d *gatekeeperv1.DeniedCaller) string { return words.Cell(d.GetText()) })
	if more := len(callers) - len(lines); more > 0 {
		lines = append(lines, "... and "+words.Plural(more, "more caller is denied", "more callers are denied")+".")
	}
	return lines
}

// MisspelledLines returns the servers' descriptions of callers that probably misspelled a requested name.
func MisspelledLines(r *gatekeeperv1.ListDeniedResponse) []string {
	return words.Map(r.GetMisspelled(), func(d *gatekeeperv1.DeniedCaller) string { return "A misspelled name? " + words.Cell(d.GetText()) })
}

// CheckDefined returns an error if some of the names have no definition. Without this error, the empty list for a
// misspelled name would look as if nothing were held. Names in found are accepted: permits and the journal may contain
// names whose definitions were deleted.
func CheckDefined(ctx context.Context, c *client.Client, names, found []string) error {
	unknown, err := Unknown(ctx, c, names, found)
	if err != nil || len(unknown) == 0 {
		return err
	}
	return noSuch(ctx, c, unknown)
}

// CheckRecorded is like CheckDefined, but also accepts names in the journal, which contains deleted definitions.
func CheckRecorded(ctx context.Context, c *client.Client, names, found []string) error {
	unknown, err := Unknown(ctx, c, names, found)
	if err != nil {
		return err
	}
	var unrecorded []*client.NoSuchDefinitionError
	for _, e := range unknown {
		r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: []string{e.Name}, Permits: true, PageSize: 1})
		if err != nil {
			return err
		}
		if len(r.GetEntries()) == 0 {
			unrecorded = append(unrecorded, e)
		}
	}
	if len(unrecorded) == 0 {
		return nil
	}
	return noSuch(ctx, c, unrecorded)
}

// Unknown returns the servers' error for each name without a definition. It ignores globs and the names in found.
func Unknown(ctx context.Context, c *client.Client, names, found []string) ([]*client.NoSuchDefinitionError, error) {
	var unknown []*client.NoSuchDefinitionError
	seen := slices.Clone(found)
	for _, name := range names {
		if IsGlob(name) || slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		_, err := c.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: name})
		if e, ok := errors.AsType[*client.NoSuchDefinitionError](err); ok {
			unknown = append(unknown, e)
		} else if err != nil {
			return nil, err
		}
	}
	return unknown, nil
}

// noSuch returns the error for missing definitions.
func noSuch(ctx context.Context, c *client.Client, unknown []*client.NoSuchDefinitionError) error {
	texts := words.Map(unknown, func(e *client.NoSuchDefinitionError) string { return WithCallers(ctx, c, e) })
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(strings.Join(texts, "\n")), Hint: "`gkctl get` lists the definitions."}
}

// WithCallers returns the text of the servers' error for a missing definition, followed by the callers that are denied
// because of it.
func WithCallers(ctx context.Context, c *client.Client, e *client.NoSuchDefinitionError) string {
	r := Denials(ctx, c, &gatekeeperv1.ListDeniedRequest{Names: []string{e.Name}})
	return strings.Join(append([]string{e.Error()}, DeniedLines(r.GetCallers(), maxCallerLines)...), "\n")
}

// DefinitionNames returns the names of the definitions that match globs, or of all definitions if there are no globs.
func DefinitionNames(ctx context.Context, c *client.Client, globs []string) ([]string, error) {
	all, err := List(ctx, c, &gatekeeperv1.ListDefinitionsRequest{Names: globs})
	return namesOf(all), err
}

// Annotate rewords an error to name the wrong flag or suggest the right name.
func Annotate(ctx context.Context, c *client.Client, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.DefaultAttemptTimeout)
	defer cancel()
	switch e := err.(type) { //nolint:errorlint // joined and already annotated errors are returned unchanged
	case *ui.CodeError:
		// A DeniedError does not suggest a name.
		if d, ok := errors.AsType[*client.DeniedError](e.Err); ok && e.Code == ui.ExitNoSuch {
			unknown, _ := Unknown(ctx, c, []string{d.Semaphore}, nil) // best effort
			if len(unknown) > 0 && unknown[0].Suggestion != "" {
				return &ui.CodeError{Code: e.Code, Err: fmt.Errorf("%w Did you mean %q?", e.Err, unknown[0].Suggestion), Hint: e.Hint}
			}
		}
	case *client.InvalidFieldError:
		return withFlagName(e)
	case *client.NoSuchDefinitionError:
		return noSuch(ctx, c, []*client.NoSuchDefinitionError{e})
	}
	return err
}

// withFlagName rewords an error for an invalid request field to refer to the flag or argument instead of the field.
func withFlagName(e *client.InvalidFieldError) error {
	field := e.Field
	for _, request := range []string{"pause.", "cordon.", "resume.", "selector."} {
		field = strings.TrimPrefix(field, request)
	}
	name, _, _ := strings.Cut(field, "[")
	flag, known := map[string]string{
		"names": "the name", "labels": "-l", "drain": "--drain", "group_pattern": "--group", "acquirer_pattern": "--acquirer", "id": "--id",
		"duration": "--for", "until": "--until", "weight": "--weight", "semaphore": "the name",
	}[name]
	if !known || e.Rule == "" {
		return e
	}
	text := flag
	if e.Value != "" {
		text += fmt.Sprintf(" %q", e.Value)
	}
	return &ui.CodeError{Code: ui.ExitBadInput, Err: fmt.Errorf("%s: %s", text, e.Rule)}
}
