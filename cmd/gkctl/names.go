package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// pointOut tells a person which of the names are of no definition, and which one was likely meant. Only a remark, of a command that
// may be early: a server that does not answer this is not worth an error.
func pointOut(a *app, ctx context.Context, c *client.Client, names []string) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	unknown, err := undefined(ctx, c, names, nil)
	if err != nil {
		return
	}
	for _, name := range unknown {
		a.say("gkctl: %s", noDefinition(ctx, c, name))
	}
}

// refuseUnknown is the error of a listing when some of the names are of no definition: nothing shown for a misspelled name looks as if
// nothing were held. Names in met, which permits or the journal may know for longer, are no slip.
func refuseUnknown(ctx context.Context, c *client.Client, names, met []string) error {
	unknown, err := undefined(ctx, c, names, met)
	if err != nil || len(unknown) == 0 {
		return err
	}
	return noDefinitions(ctx, c, unknown)
}

// noDefinitions is the error of names that are of no definition.
func noDefinitions(ctx context.Context, c *client.Client, names []string) error {
	texts := mapped(names, func(name string) string { return noDefinition(ctx, c, name) })
	return &codeError{code: exitNoSuch, err: errors.New(strings.Join(texts, "\n")), hint: "`gkctl get` lists the definitions."}
}

// refuseUnheardOf is as refuseUnknown, where the journal counts too: it knows what was deleted.
func refuseUnheardOf(ctx context.Context, c *client.Client, names, met []string) error {
	unknown, err := undefined(ctx, c, names, met)
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
	return refuseUnknown(ctx, c, names, met)
}

// undefined are those of the names that are of no definition, each once. Globs and the names in met are left alone.
func undefined(ctx context.Context, c *client.Client, names, met []string) ([]string, error) {
	var doubtful, unknown []string
	for _, name := range names {
		if !isGlob(name) && !slices.Contains(met, name) && !slices.Contains(doubtful, name) {
			doubtful = append(doubtful, name)
		}
	}
	for some := range slices.Chunk(doubtful, maxNames) {
		known, err := definitionNames(ctx, c, some)
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

// noDefinition says that there is no definition of that name, which was likely meant, and who asks for it in vain.
func noDefinition(ctx context.Context, c *client.Client, name string) string {
	text := fmt.Sprintf("there is no definition %q", name)
	known, err := definitionNames(ctx, c, nil)
	if err != nil {
		return text // said without it
	}
	if meant := nearest.Word(name, known); meant != "" {
		text += fmt.Sprintf("; did you mean %q?", meant)
	}
	return text + strangers(ctx, c, name)
}

// definitionNames are the names of the definitions that match globs; of all when there are none.
func definitionNames(ctx context.Context, c *client.Client, globs []string) ([]string, error) {
	var names []string
	for r, err := range c.AllDefinitions(ctx, &gatekeeperv1.ListDefinitionsRequest{Names: globs}) {
		if err != nil {
			return nil, err
		}
		names = append(names, r.GetDefinition().GetName())
	}
	return names, nil
}
