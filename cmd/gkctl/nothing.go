package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// nothingChosen is the error of a command that was to change definitions when its names, globs and labels match none. An empty
// listing is an answer; a change of nothing is most likely a slip, and a script must not take it for done.
func nothingChosen(ctx context.Context, c *client.Client, names []string, labels string) error {
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
	return &codeError{code: exitNoSuch, err: errors.New(text), hint: "Nothing was changed. `gkctl get` lists the definitions, `gkctl get -o wide` their labels."}
}

// meant is the servers' answer that the choice matches nothing, in the words of nothingChosen. Other errors stay as they are.
func (c *chosen) meant(ctx context.Context, to *client.Client, err error) error {
	if !choseNothing(err) {
		return err
	}
	return nothingChosen(ctx, to, c.names, c.labels)
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
		if meant := nearestGlob(name, mapped(known, (*gatekeeperv1.Definition).GetName)); meant != "" {
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

// meant adds to the servers' error about a definition that is not there which one was likely meant.
func meant(ctx context.Context, c *client.Client, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), client.DefaultAttemptTimeout)
	defer cancel()
	if e, ok := err.(*codeError); ok && e.code == exitNoSuch { //nolint:errorlint // as below
		d, ok := errors.AsType[*client.Denied](e.err)
		if !ok {
			return err
		}
		known, _ := definitionNames(ctx, c, nil) // said without it
		if name := nearest.Word(d.Semaphore, known); name != "" {
			return &codeError{code: e.code, err: fmt.Errorf("%w Did you mean %q?", e.err, name), hint: e.hint}
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
	return &codeError{code: exitNoSuch, err: errors.New(noDefinition(ctx, c, e.Name)), hint: "`gkctl get` lists the definitions."}
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
	return &codeError{code: exitBadInput, err: fmt.Errorf("%s: %s", text, e.Rule)}
}

// choseNothing says whether the servers refused a change because its selector matches nothing.
func choseNothing(err error) bool {
	e, ok := errors.AsType[*client.StatusError](err)
	return ok && e.Code == codes.NotFound && e.Reason == "NOTHING_CHOSEN"
}
