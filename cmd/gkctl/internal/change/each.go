package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// Done is the result of a command for one of several things.
type Done struct {
	// Object is the item in -o json. Set even if the item was refused.
	Object any
	// Name and Text are the lines of -o name and of the table. They are not printed for a refused one.
	Name, Text string
}

// Each processes several things one after the other, and continues after a failure. It prints each result at once,
// because a later one may take long. JSON and YAML are one object at the end. The error joins all failures.
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
