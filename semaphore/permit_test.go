package semaphore

import (
	"reflect"
	"testing"
)

// A server keeps a million permits in memory, so an additional 16-byte field costs 16 MB. Fields that few permits use
// belong behind a pointer.
func TestPermit_IsSmall(t *testing.T) {
	if size := reflect.TypeFor[Permit]().Size(); size > 160 {
		t.Errorf("a Permit takes %d bytes, want at most 160", size)
	}
}
