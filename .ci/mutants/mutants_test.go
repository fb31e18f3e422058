package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All mutants must apply to the current files, compile, and name existing tests. `make mutants` checks whether the
// tests catch them.
func TestMutants_ApplyAndCompile(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := command(t.Context(), root, []string{"-check"}, &out); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
}

const text = "package p\n\nfunc a() {\n\treturn\n}\n\nfunc b() {\n\treturn\n}\n"

func TestHunk_Apply(t *testing.T) {
	for _, test := range []struct{ name, diff, want, wantErr string }{
		{"MatchesOnce_IsApplied", " func b() {\n-\treturn\n+\tpanic(1)\n }\n", strings.Replace(text, "b() {\n\treturn", "b() {\n\tpanic(1)", 1), ""},
		{"MatchesTwice_IsRejected", "-\treturn\n", "", "m.patch:5: this hunk matches 2 places in p.go, first at lines 4 and 8: add more context"},
		{"MatchesNowhere_IsRejected", "-\tstop()\n", "", "m.patch:5: this hunk does not match p.go, which does not contain the line\n\t\tstop()"},
		{"MatchesPartially_ReportsFirstMismatch", " func b() {\n-\tpanic(1)\n", "", "m.patch:5: this hunk does not match p.go: line 8 is\n\t\treturn\nbut the mutant expects\n\t\tpanic(1)"},
		{"ExtendsPastEnd_IsRejected", " func b() {\n \treturn\n }\n \n \n+x\n", "", "line 11 is\n\tthe end of the file"},
		{"ChangesNothing_IsRejected", " func b() {\n", "", "must change something"},
		{"HasNoContext_IsRejected", "+x\n", "", "needs context"},
		{"InvalidLine_IsRejected", "=x\n", "", `m.patch:6: "=x" is not a valid diff line`},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := parse("m.patch", "Breaks: it\nTest: ./p TestP\n--- a/p.go\n+++ b/p.go\n@@ -7,3 +7,3 @@\n"+test.diff)
			var got string
			if err == nil {
				got, err = m.hunks[0].apply(text)
			}
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("apply() error = %v, want one containing %q", err, test.wantErr)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("apply() error = %v, got text:\n%s", err, got)
			}
		})
	}
}

func TestParse_ReadsValidAndRejectsInvalidHeaders(t *testing.T) {
	m, err := parse("m.patch", "Breaks: a rule\n  of two lines\nWith: other\nTest: ./p TestP/sub\nTest: ./q TestQ -repeat 2 -x\n\n--- a/p.go\n+++ b/p.go\n@@\n-x\n")
	if err != nil {
		t.Fatal(err)
	}
	if m.name != "m" || m.breaks != "a rule of two lines" || m.with != "other" || len(m.tests) != 2 ||
		m.tests[0] != (test{"./p", "TestP/sub", ""}) || m.tests[1] != (test{"./q", "TestQ", "-repeat 2 -x"}) {
		t.Errorf("parse() = %+v, want a mutant with two tests", m)
	}
	for _, header := range []string{"Test: ./p TestP\n", "Breaks: a\n", "Breaks: a\nHarmless: b\nTest: ./p TestP\n", "Breaks: a\nTest: ./p TestP\nColour: red\n"} {
		if _, err := parse("m.patch", header+"--- a/p.go\n+++ b/p.go\n@@\n-x\n"); err == nil {
			t.Errorf("parse() accepted the header %q", header)
		}
	}
}

// The module under test has one package, three tests, and a mutant for each possible outcome.
func TestCommand_ReportsOutcomeOfEachMutant(t *testing.T) {
	root := t.TempDir()
	write := func(file, content string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26.0\n")
	write("p/p.go", "package p\n\nfunc one() int {\n\treturn 1\n}\n\nfunc two() int {\n\treturn 2\n}\n")
	write("p/p_test.go", `package p

import "testing"

func TestOne(t *testing.T) {
	if one() != 1 {
		t.Error("not one")
	}
}

func TestTwo(t *testing.T) {
	if two() != 2 {
		t.Error("not two")
	}
}

func TestSkipped(t *testing.T) { t.Skip("today") }
`)
	mutant := func(name, header, change string) {
		write(".ci/mutants/"+name+".patch", header+"--- a/p/p.go\n+++ b/p/p.go\n@@\n-\treturn 1\n+\t"+change+"\n")
	}
	mutant("bug", "Breaks: it\nTest: ./p TestOne\n", "return 3")
	mutant("control", "Harmless: it is\nTest: ./p TestOne\n", "return 2 - 1")
	var out strings.Builder
	if err := command(t.Context(), root, nil, &out); err != nil || !strings.Contains(out.String(), "2 mutants, 2 runs, 0 unexpected results") {
		t.Errorf("command() = %v, want nil and a summary with 0 unexpected results; output:\n%s", err, &out)
	}

	mutant("crash", "Breaks: it\nTest: ./p TestOne\n", "panic(1)")
	mutant("elsewhere", "Breaks: it\nTest: ./p TestTwo\n", "return 3")
	mutant("noticed", "Harmless: it is not\nTest: ./p TestOne\n", "return 3")
	mutant("skipped", "Breaks: it\nTest: ./p TestSkipped\n", "return 3")
	if err := command(t.Context(), root, []string{"-run", "crash|elsewhere|noticed|skipped"}, &out); err == nil {
		t.Error("command() = nil, want an error")
	}
	t.Log(out.String())
	for mutant, want := range map[string]string{
		"bug": "caught", "control": "harmless", "crash": "CRASHED", "elsewhere": "MISSED", "noticed": "FAILED", "skipped": "UNHEALTHY",
	} {
		found := false
		for line := range strings.SplitSeq(out.String(), "\n") {
			found = found || strings.HasPrefix(line, mutant+" ") && strings.Contains(line, want)
		}
		if !found {
			t.Errorf("output for %s does not contain %q", mutant, want)
		}
	}

	mutant("typo", "Breaks: it\nTest: ./p TestOne\n", "return one")
	mutant("renamed", "Breaks: it\nTest: ./p TestTwelve\n", "return 3")
	if err := command(t.Context(), root, []string{"-check"}, &out); err == nil || !strings.Contains(err.Error(), "renamed.patch: Test: ./p has no test TestTwelve") {
		t.Errorf("command() = %v, want an error that names the renamed test", err)
	}
	if err := os.Remove(filepath.Join(root, ".ci", "mutants", "renamed.patch")); err != nil {
		t.Fatal(err)
	}
	if err := command(t.Context(), root, []string{"-check"}, &out); err == nil || !strings.Contains(err.Error(), "typo.patch: does not compile") {
		t.Errorf("command() = %v, want an error that names the mutant that does not compile", err)
	}
}
