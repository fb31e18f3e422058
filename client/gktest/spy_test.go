package gktest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spy is a test that is to fail.
type spy struct {
	testing.TB
	said string
}

func (s *spy) Helper() {}

func (s *spy) Fatal(args ...any) {
	s.said = fmt.Sprint(args...)
	runtime.Goexit()
}

func (s *spy) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

// wantFatal expects f to fail its test with what says that.
func wantFatal(t *testing.T, says string, f func(t testing.TB)) {
	t.Helper()
	s := &spy{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(s)
	}()
	<-ended
	if !strings.Contains(s.said, says) {
		t.Errorf("the test failed with %q, want %q", s.said, says)
	}
}
