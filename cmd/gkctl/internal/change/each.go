package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// ItemResult is a command's result for one of several items.
type ItemResult struct {
	// Object is the item in JSON and YAML output. It is set even if the item was refused.
	Object any
	// Name and Text are the item's lines in the name and table output formats. They are not printed if the item was
	// refused.
	Name, Text string
}

// Each processes several items in order, and continues after a failure. It prints each result immediately, because a
// later item may take a long time. JSON and YAML are printed as one object at the end. The error joins all failures.
func Each[T any](ctx context.Context, s *ui.IO, o ui.Output, all []T, do func(T) (ItemResult, error)) error {
	var failed []error
	objects := []any{}
	for _, item := range all {
		d, err := do(item)
		objects = append(objects, d.Object)
		switch {
		case err != nil:
			failed = append(failed, err)
		case o.Is(ui.Table):
			fmt.Fprintln(s.Out, d.Text)
		case o.Is(ui.Name):
			fmt.Fprintln(s.Out, d.Name)
		}
		if ctx.Err() != nil { // interrupted
			break
		}
	}
	if o.Is(ui.JSON) || o.Is(ui.YAML) {
		if err := s.PrintObject(o, ui.Items(objects)); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 1 {
		return failed[0]
	}
	return errors.Join(failed...)
}
