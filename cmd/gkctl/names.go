package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/internal/nearest"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// pointOut tells a person which of the names are of no definition, and which one was likely meant: nothing shown for a misspelled
// name looks as if nothing were held. Globs and the names in met, which permits may outlive, are left alone. Only a remark: what was asked
// for is shown all the same, and a server that does not answer this is not worth an error.
func (a *app) pointOut(ctx context.Context, c *client.Client, names, met []string) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	var doubtful []string
	for _, name := range names {
		if !isGlob(name) && !slices.Contains(met, name) && !slices.Contains(doubtful, name) {
			doubtful = append(doubtful, name)
		}
	}
	for some := range slices.Chunk(doubtful, maxNames) {
		known, err := definitionNames(ctx, c, some)
		if err != nil {
			return
		}
		for _, name := range some {
			if !slices.Contains(known, name) {
				a.say("gkctl: %s", noDefinition(ctx, c, name))
			}
		}
	}
}

// noDefinition says that there is no definition of that name, and which was likely meant.
func noDefinition(ctx context.Context, c *client.Client, name string) string {
	text := fmt.Sprintf("there is no definition %q", name)
	known, err := definitionNames(ctx, c, nil)
	if err != nil {
		return text // said without it
	}
	if meant := nearest.Word(name, known); meant != "" {
		text += fmt.Sprintf("; did you mean %q?", meant)
	}
	return text
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
