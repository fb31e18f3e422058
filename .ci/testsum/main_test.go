package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runTestsum runs testsum on the events of one package p, with a skip list, and returns its exit code and output.
func runTestsum(t *testing.T, skips string, lines ...string) (int, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "skips.txt")
	if err := os.WriteFile(file, []byte(skips), 0o600); err != nil {
		t.Fatal(err)
	}
	var in, out bytes.Buffer
	for _, line := range lines {
		in.WriteString(strings.ReplaceAll(line, "P!", `"Package":"`+module+`p"`) + "\n")
	}
	code := run(&in, &out, file)
	return code, out.String()
}

const (
	passA   = `{"Action":"pass",P!,"Test":"TestA"}`
	skipB   = `{"Action":"skip",P!,"Test":"TestB"}`
	failB   = `{"Action":"fail",P!,"Test":"TestB"}`
	outputB = `{"Action":"output",P!,"Test":"TestB","Output":"because of b\n"}`
	passed  = `{"Action":"pass",P!,"Elapsed":0.5}`
	failed  = `{"Action":"fail",P!,"Elapsed":0.5}`
)

func TestRun_ReportsOutcomesAndSetsExitCode(t *testing.T) {
	for _, test := range []struct {
		name   string
		skips  string
		lines  []string
		code   int
		output []string
	}{
		{"AllPassed_Succeeds", "", []string{passA, passed}, 0, []string{"ok    p  0.5s", "1 passed, 0 failed, 0 skipped"}},
		{"TestFailed_FailsAndShowsOutput", "", []string{passA, outputB, failB, failed}, 1, []string{"because of b", "1 passed, 1 failed, 0 skipped"}},
		{"UnlistedSkip_FailsAndShowsOutput", "", []string{passA, outputB, skipB, passed}, 1, []string{"because of b", "TestB was skipped", "1 passed, 0 failed, 1 skipped"}},
		{"ListedSkip_SucceedsAndShowsReason", "p TestB needs a printer\n", []string{passA, outputB, skipB, passed}, 0, []string{"TestB: needs a printer", "1 passed, 0 failed, 1 skipped"}},
		{"NothingRan_Fails", "", []string{`{"Action":"skip",P!}`}, 1, []string{"no tests passed", "0 passed, 0 failed, 0 skipped"}},
		{"EmptyInput_Fails", "", nil, 1, []string{"no tests passed"}},
		{"PackageFailedWithoutFailedTest_ShowsOutput", "", []string{passA, `{"Action":"output",P!,"Output":"panic: oh\n"}`, failed}, 1, []string{"panic: oh", "1 passed, 1 failed, 0 skipped"}},
		{"PackageDidNotFinish_Fails", "", []string{passA, outputB}, 1, []string{"because of b", "did not finish", "1 passed, 1 failed"}},
		{"BuildFailed_ShowsCompilerOutput", "", []string{`{"ImportPath":"p","Action":"build-output","Output":"x.go:1: bad\n"}`, passA, failed}, 1, []string{"x.go:1: bad"}},
		{"SkipWithoutReason_IsRejected", "p TestB\n", []string{passA, passed}, 1, []string{"want package, test and reason"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, output := runTestsum(t, test.skips, test.lines...)
			if code != test.code {
				t.Errorf("exit code = %d, want %d", code, test.code)
			}
			for _, want := range test.output {
				if !strings.Contains(output, want) {
					t.Errorf("output does not contain %q:\n%s", want, output)
				}
			}
		})
	}
}
