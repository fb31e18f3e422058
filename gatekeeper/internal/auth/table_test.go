package auth

import (
	"errors"
	"testing"

	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

func TestCheck_InvalidScope_NamesTheField(t *testing.T) {
	t.Parallel()
	for want, scope := range map[string]access.Scope{
		"grants[1].semaphores[1]": {Semaphores: []string{"a*", "[b"}},
		"grants[1].labels":        {Labels: "a=,=b"},
		"grants[1].group":         {Group: "("},
		"grants[1].acquirer":      {Acquirer: "("},
	} {
		b := &access.Binding{Grants: []access.Grant{{Role: access.Viewer}, {Role: access.Operator, Scope: scope}}}
		if e, ok := errors.AsType[*semaphore.FieldError](Check(b)); !ok || e.Field != want {
			t.Errorf("Check(%+v) = %v, want an error for field %s", scope, e, want)
		}
	}
}
