package lookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// maxStrangersLines is how many denied callers the error about a name that is not defined names.
	maxStrangersLines = 3
	// maxRemark bounds how long the servers are asked for what is only a remark.
	maxRemark = 2 * time.Second
)

// IsGlob says whether an argument may stand for several names. Names contain none of these characters.
func IsGlob(arg string) bool { return strings.ContainsAny(arg, "*?[]") }

// Max is the most names and globs of one call.
const Max = 100

// Definitions reads the definitions that match names and labels. A name that is not a glob and is of no definition is an error, unless
// there are labels too.
func Definitions(ctx context.Context, c *client.Client, names []string, labels string) ([]*gatekeeperv1.DefinitionRecord, error) {
	all, err := List(ctx, c, &gatekeeperv1.ListDefinitionsRequest{Names: names, Labels: labels})
	if err == nil && labels == "" {
		err = RefuseUnknown(ctx, c, names, namesOf(all))
	}
	return all, err
}

// List reads the definitions that a request is about, each once. It may have more names than one call takes.
func List(ctx context.Context, c *client.Client, req *gatekeeperv1.ListDefinitionsRequest) (all []*gatekeeperv1.DefinitionRecord, err error) {
	names, seen := req.GetNames(), make(map[string]bool)
	for first := true; first || len(names) > 0; first = false {
		req.Names = names[:min(len(names), Max)]
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
	return words.Mapped(records, func(r *gatekeeperv1.DefinitionRecord) string { return r.GetDefinition().GetName() })
}

// Chosen is as Definitions, for a command that changes what it reads: when nothing matches, that is an error.
func Chosen(ctx context.Context, c *client.Client, names []string, labels string) ([]*gatekeeperv1.DefinitionRecord, error) {
	all, err := Definitions(ctx, c, names, labels)
	if err == nil && len(all) == 0 {
		err = NothingChosen(ctx, c, names, labels)
	}
	return all, err
}

// Remembered is what the leader remembers of denials. It is only a remark: a leader that does not answer, or whose version does
// not know the call, is not worth an error.
func Remembered(ctx context.Context, c *client.Client, req *gatekeeperv1.ListDeniedRequest) *gatekeeperv1.ListDeniedResponse {
	ctx, cancel := context.WithTimeout(ctx, maxRemark)
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

// DeniedLines are what the servers say of callers: of the first most of them, and how many more there are.
func DeniedLines(callers []*gatekeeperv1.DeniedCaller, most int) []string {
	lines := words.Mapped(callers[:min(len(callers), most)], func(d *gatekeeperv1.DeniedCaller) string { return words.Cell(d.GetText()) })
	if more := len(callers) - len(lines); more > 0 {
		lines = append(lines, "... and "+words.Plural(more, "more caller is denied", "more callers are denied")+".")
	}
	return lines
}

// MisspelledLines are of callers that likely mean the name that was asked about.
func MisspelledLines(r *gatekeeperv1.ListDeniedResponse) []string {
	return words.Mapped(r.GetMisspelled(), func(d *gatekeeperv1.DeniedCaller) string { return "A misspelled name? " + words.Cell(d.GetText()) })
}

// strangers are the lines on callers that ask for a name without a definition, each after a line break. It is empty when there are
// none.
func strangers(ctx context.Context, c *client.Client, name string) string {
	r := Remembered(ctx, c, &gatekeeperv1.ListDeniedRequest{Names: []string{name}})
	if len(r.GetCallers()) == 0 {
		return ""
	}
	return "\n" + strings.Join(DeniedLines(r.GetCallers(), maxStrangersLines), "\n")
}

// RefuseUnknown is the error of a listing when some of the names are of no definition: nothing shown for a misspelled name looks as if
// nothing were held. Names in met, which permits or the journal may know for longer, are no slip.
func RefuseUnknown(ctx context.Context, c *client.Client, names, met []string) error {
	unknown, err := Undefined(ctx, c, names, met)
	if err != nil || len(unknown) == 0 {
		return err
	}
	return NoDefinitions(ctx, c, unknown)
}

// NoDefinitions is the error of names that are of no definition.
func NoDefinitions(ctx context.Context, c *client.Client, names []string) error {
	texts := words.Mapped(names, func(name string) string { return NoDefinition(ctx, c, name) })
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(strings.Join(texts, "\n")), Hint: "`gkctl get` lists the definitions."}
}

// RefuseUnheardOf is as refuseUnknown, where the journal counts too: it knows what was deleted.
func RefuseUnheardOf(ctx context.Context, c *client.Client, names, met []string) error {
	unknown, err := Undefined(ctx, c, names, met)
	if err != nil {
		return err
	}
	for _, name := range unknown {
		r, err := c.Operator().ListHistory(ctx, &gatekeeperv1.ListHistoryRequest{Names: []string{name}, Permits: true, PageSize: 1})
		if err != nil {
			return err
		}
		if len(r.GetEntries()) > 0 {
			met = append(met, name)
		}
	}
	return RefuseUnknown(ctx, c, names, met)
}

// Undefined are those of the names that are of no definition, each once. Globs and the names in met are left alone.
func Undefined(ctx context.Context, c *client.Client, names, met []string) ([]string, error) {
	var doubtful, unknown []string
	for _, name := range names {
		if !IsGlob(name) && !slices.Contains(met, name) && !slices.Contains(doubtful, name) {
			doubtful = append(doubtful, name)
		}
	}
	for some := range slices.Chunk(doubtful, Max) {
		known, err := DefinitionNames(ctx, c, some)
		if err != nil {
			return nil, err
		}
		for _, name := range some {
			if !slices.Contains(known, name) {
				unknown = append(unknown, name)
			}
		}
	}
	return unknown, nil
}

// NoDefinition says that there is no definition of that name, which one was likely meant, and which callers are denied because of it.
func NoDefinition(ctx context.Context, c *client.Client, name string) string {
	text := fmt.Sprintf("there is no definition %q", name)
	known, err := DefinitionNames(ctx, c, nil)
	if err != nil {
		return text // said without it
	}
	if meant := nearest.Word(name, known); meant != "" {
		text += fmt.Sprintf("; did you mean %q?", meant)
	}
	return text + strangers(ctx, c, name)
}

// DefinitionNames are the names of the definitions that match globs; of all when there are none.
func DefinitionNames(ctx context.Context, c *client.Client, globs []string) ([]string, error) {
	all, err := List(ctx, c, &gatekeeperv1.ListDefinitionsRequest{Names: globs})
	return namesOf(all), err
}

// NothingChosen is the error of a command that was to change definitions when its names, globs and labels match none. An empty
// listing is an answer; a change of nothing is most likely a slip, and a script must not take it for done.
func NothingChosen(ctx context.Context, c *client.Client, names []string, labels string) error {
	var choice []string
	for _, n := range names {
		choice = append(choice, fmt.Sprintf("%q", n))
	}
	text := "no definition matches " + strings.Join(choice, " or ")
	switch {
	case labels != "" && len(names) > 0:
		text += fmt.Sprintf(" and has the labels %q", labels)
	case labels != "":
		text = fmt.Sprintf("no definition has the labels %q", labels)
	case len(names) == 0:
		text = "there is no definition"
	}
	if meant := chosenInstead(ctx, c, names, labels); meant != "" {
		text += fmt.Sprintf("; did you mean %q?", meant)
	}
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(text), Hint: "Nothing was changed. `gkctl get` lists the definitions, `gkctl get -o wide` their labels."}
}

// chosenInstead is what was likely meant by a glob or by labels that match nothing; empty when nothing is near.
func chosenInstead(ctx context.Context, c *client.Client, names []string, labels string) string {
	var known []*gatekeeperv1.Definition
	for r, err := range c.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{}) {
		if err != nil {
			return "" // said without it
		}
		known = append(known, r.GetDefinition())
	}
	for _, name := range names {
		if meant := nearestGlob(name, words.Mapped(known, (*gatekeeperv1.Definition).GetName)); meant != "" {
			return meant
		}
	}
	if labels == "" || len(names) > 0 {
		return ""
	}
	var pairs []string
	for _, d := range known {
		for key, value := range d.GetLabels() {
			pairs = append(pairs, key+"="+value)
		}
	}
	slices.Sort(pairs)
	for _, term := range strings.Split(labels, ",") {
		if meant := nearest.Word(term, pairs); meant != "" && meant != term {
			return strings.Replace(labels, term, meant, 1)
		}
	}
	return ""
}

// nearestGlob is the glob with another beginning, one that a known name has; empty when none is near, or when it has none.
func nearestGlob(glob string, known []string) string {
	n := strings.IndexAny(glob, "*?[")
	if n <= 0 {
		return ""
	}
	var beginnings []string // also those that a letter is missing of, or one too many
	for _, name := range known {
		for _, length := range []int{n, n + 1, n - 1} {
			beginnings = append(beginnings, name[:min(length, len(name))])
		}
	}
	meant := nearest.Word(glob[:n], beginnings)
	if meant == "" || meant == glob[:n] { // that of known names already: what follows it is what matches none
		return ""
	}
	return meant + glob[n:]
}

// Meant adds to the servers' error about a definition that is not there which one was likely meant.
func Meant(ctx context.Context, c *client.Client, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.DefaultAttemptTimeout)
	defer cancel()
	if e, ok := err.(*ui.CodeError); ok && e.Code == ui.ExitNoSuch { //nolint:errorlint // as below
		d, ok := errors.AsType[*client.DeniedError](e.Err)
		if !ok {
			return err
		}
		known, _ := DefinitionNames(ctx, c, nil) // said without it
		if name := nearest.Word(d.Semaphore, known); name != "" {
			return &ui.CodeError{Code: e.Code, Err: fmt.Errorf("%w Did you mean %q?", e.Err, name), Hint: e.Hint}
		}
		return err
	}
	if e, ok := err.(*client.InvalidFieldError); ok { //nolint:errorlint // as below
		return inFlagsWords(e)
	}
	e, ok := err.(*client.NoSuchDefinitionError) //nolint:errorlint // one among several errors, or one that was explained, stays as it is
	if !ok || e.Name == "" {
		return err
	}
	return &ui.CodeError{Code: ui.ExitNoSuch, Err: errors.New(NoDefinition(ctx, c, e.Name)), Hint: "`gkctl get` lists the definitions."}
}

// inFlagsWords names a bad field of a request as the command line does.
func inFlagsWords(e *client.InvalidFieldError) error {
	field := e.Field
	for _, request := range []string{"pause.", "cordon.", "resume.", "selector."} {
		field = strings.TrimPrefix(field, request)
	}
	name, _, _ := strings.Cut(field, "[")
	flag, known := map[string]string{
		"names": "the name", "labels": "-l", "drain": "--drain", "group_pattern": "--group", "acquirer_pattern": "--acquirer", "id": "--id",
		"lasts": "--for", "until": "--until", "weight": "--weight", "semaphore": "the name",
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
