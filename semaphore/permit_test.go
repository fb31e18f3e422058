package semaphore

import (
	"reflect"
	"testing"
)

// A server keeps a million permits in memory: a field more is 16 MB more. What few permits have belongs behind a
// pointer.
func TestPermit_IsSmall(t *testing.T) {
	if size := reflect.TypeFor[Permit]().Size(); size > 160 {
		t.Errorf("a permit takes %d bytes, more than 160", size)
	}
}
