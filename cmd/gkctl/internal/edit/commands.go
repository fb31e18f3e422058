package edit

import (
	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
)

// Commands are the commands of this package.
func Commands(f *conn.Factory) []*cobra.Command {
	return []*cobra.Command{
		newApply(f, (*applyOptions).run),
		newSet(f, (*setOptions).run),
		newEdit(f, (*editOptions).run),
		newDelete(f, (*deleteOptions).run),
		newUndo(f, (*undoOptions).run),
		newDiff(f, (*diffOptions).run),
		newPreview(f, (*previewOptions).run),
	}
}
