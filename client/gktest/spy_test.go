package gktest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spy is a testing.TB that records the message of a fatal failure.
type spy struct {
	testing.TB
	failure string
}

func (s *spy) Helper() {}

func (s *spy) Fatal(args ...any) {
	s.failure = fmt.Sprint(args...)
	runtime.Goexit()
}

func (s *spy) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

// wantFatal checks that f fails its test with a message that contains text.
func wantFatal(t *testing.T, text string, f func(t testing.TB)) {
	t.Helper()
	s := &spy{TB: t}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(s)
	}()
	<-ended
	if !strings.Contains(s.failure, text) {
		t.Errorf("failure message = %q, want it to contain %q", s.failure, text)
	}
}
