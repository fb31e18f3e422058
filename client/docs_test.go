package client_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every Go block of the pages on the client is a part of an example, so that it compiles and runs.
func TestDocs_EveryGoBlock_IsInAnExample(t *testing.T) {
	var examples strings.Builder
	for _, file := range []string{"example_test.go", "cron/example_test.go", "gocron/example_test.go", "fence/example_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples.WriteString(strings.ReplaceAll(string(text), "\n\t", "\n")) // the blocks stand in functions
	}
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	for page, least := range map[string]int{"../docs/jobs.md": 10, "../docs/fencing.md": 3} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := block.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < least {
			t.Errorf("%s has %d Go blocks", page, len(blocks))
		}
		for _, b := range blocks {
			found := strings.Contains(examples.String(), b[1])
			for indent := "\t"; !found && len(indent) < 4; indent += "\t" { // some stand deeper
				found = strings.Contains(examples.String(), indent+strings.ReplaceAll(strings.TrimSuffix(b[1], "\n"), "\n", "\n"+indent)+"\n")
			}
			if !found {
				t.Errorf("%s: no example has this:\n%s", page, b[1])
			}
		}
	}
}
