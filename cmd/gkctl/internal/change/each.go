package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Done is what a command did to one of several things.
type Done struct {
	// Object is the item of -o json, also of one that was refused.
	Object any
	// Name and Text are the lines of -o name and of the table; they are not printed for one that was refused.
	Name, Text string
}

// Each does something to each of several things, and continues after one that fails. It prints each as soon as it is done, because a later one
// may take long; JSON and YAML are one object at the end. The error has those of all that failed.
func Each[T any](ctx context.Context, s *ui.IO, o ui.Output, all []T, do func(T) (Done, error)) error {
	var failed []error
	objects := []any{}
	for _, one := range all {
		d, err := do(one)
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
