package conn

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client/contexts"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/words"
)

// ReadContexts reads the context file and returns its contents and its path.
func ReadContexts() (f *contexts.File, path string, err error) {
	if path, err = contexts.Path(); err == nil {
		f, err = contexts.Read(path)
	}
	if err != nil {
		return nil, "", ui.Usagef("%w", err)
	}
	return f, path, nil
}

// saved returns the context to use, or the zero value if there is none.
func (o *Global) saved() (contexts.Context, error) {
	c, err := contexts.Load(o.context)
	if err != nil {
		return c, ui.Usagef("%w", err)
	}
	return c, nil
}

// CompleteContexts completes the names of contexts.
func CompleteContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	f, _, err := ReadContexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return words.Map(f.Contexts, func(c contexts.Context) string { return c.Name }), cobra.ShellCompDirectiveNoFileComp
}
