package docs

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// ledgerCommand captures the package and the -run pattern of a command. A pattern that contains a pipe is quoted.
	ledgerCommand = regexp.MustCompile(`go test (?:-race |-count \d+ )*(\S+)[^` + "`" + `]*? -run (?:'([^']+)'|([^ ` + "`" + `]+))`)
	testFunction  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)`)
)

// ledgerPackages maps the abbreviations that the ledger defines in its introduction to packages.
var ledgerPackages = map[string]string{
	"K": "./gatekeeper/internal/keeper", "L": "./gatekeeper/internal/lessor", "F": "./fsm", "C": "./gatekeeper/internal/consensus",
}

// After a test is renamed, a command with the old name matches no test and still passes.
func TestLedger_EveryCommand_RunsATest(t *testing.T) {
	page, err := os.ReadFile("ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := ledgerCommand.FindAllStringSubmatch(string(page), -1)
	if len(commands) < 100 {
		t.Fatalf("found %d commands in ledger.md, want at least 100", len(commands))
	}
	for _, c := range commands {
		short, rest, _ := strings.Cut(c[1], "/")
		dir := c[1]
		if long, ok := ledgerPackages[short]; ok {
			dir = filepath.Join(long, rest)
		}
		pattern, _, _ := strings.Cut(strings.ReplaceAll(c[2]+c[3], `\|`, "|"), "/")
		alternatives := []string{pattern}
		if !strings.Contains(pattern, "(") {
			alternatives = strings.Split(pattern, "|")
		}
		names := testsIn(t, filepath.Join("..", dir))
		for _, alternative := range alternatives {
			run, err := regexp.Compile(alternative)
			if err != nil {
				t.Errorf("%s: %v", c[0], err)
			} else if !matchesAny(run, names) {
				t.Errorf("%s: no test in %s matches %q", c[0], dir, alternative)
			}
		}
	}
}

func matchesAny(re *regexp.Regexp, names []string) bool {
	for _, name := range names {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// testsIn returns the names of the tests in a directory. For dir/..., it includes the directories below it.
func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	dir, all := strings.CutSuffix(dir, "/...")
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() && path != dir && !all {
			return cmp.Or(err, filepath.SkipDir)
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, f := range testFunction.FindAllStringSubmatch(string(source), -1) {
			names = append(names, f[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
