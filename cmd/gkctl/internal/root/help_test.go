package root

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/conn"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// forEachCommand calls f for each command that has no subcommands and is not hidden.
func forEachCommand(c *cobra.Command, f func(name string, c *cobra.Command)) {
	if c.Hidden {
		return
	}
	if c.HasParent() && !c.HasSubCommands() {
		f(strings.TrimPrefix(c.CommandPath(), "gkctl "), c)
	}
	for _, sub := range c.Commands() {
		forEachCommand(sub, f)
	}
}

// An operator on call should find everything needed to use a command in its help text.
func TestHelp_EachCommand_HasExamplesExitCodesAndUnits(t *testing.T) {
	t.Parallel()
	goTypes := []string{"stringToString", "stringArray", "strings"}
	var out bytes.Buffer
	a := &conn.Factory{IO: &ui.IO{Out: &out}}
	root := newRoot(a)
	forEachCommand(root, func(name string, c *cobra.Command) {
		out.Reset()
		if err := c.Help(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, part := range []string{"\nExamples:\n  ", "\n  64 "} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("help for %s does not contain %q:\n%s", name, part, &out)
			}
		}
		example := regexp.MustCompile(`\b(gkctl ` + regexp.QuoteMeta(name) + `\b|\| gkctl apply)`)
		for line := range strings.Lines(c.Example) {
			if !example.MatchString(line) {
				t.Errorf("example for %s shows a different command: %s", name, line)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if unit := regexp.MustCompile(`\b[0-9]+(s|m|h)\b`); strings.EqualFold(f.Value.Type(), "duration") && !unit.MatchString(f.Usage+" "+f.DefValue) && name != "run" {
				t.Errorf("%s --%s has no unit in its usage: %s", name, f.Name, f.Usage)
			}
			if word, _ := pflag.UnquoteUsage(f); slices.Contains(goTypes, word) {
				t.Errorf("%s --%s has the Go type %q in its usage", name, f.Name, word)
			}
		})
	})
}

// Command-line arguments are visible to every user on the machine. A permit's token is a number, not a secret.
func TestFlags_EachCommand_TakesNoSecrets(t *testing.T) {
	t.Parallel()
	secret := regexp.MustCompile(`token|secret|password|passphrase|key|bearer`)
	root := newRoot(&conn.Factory{IO: &ui.IO{}})
	forEachCommand(root, func(name string, c *cobra.Command) {
		visit := func(f *pflag.Flag) {
			if secret.MatchString(f.Name) && f.Value.Type() == "string" && !strings.Contains(strings.ToLower(f.Usage), "file") {
				t.Errorf("%s --%s takes a secret instead of a file that contains it: %s", name, f.Name, f.Usage)
			}
		}
		c.LocalFlags().VisitAll(visit)
		c.InheritedFlags().VisitAll(visit)
	})
}

func TestCompletion_EachCommand_CompletesItsArguments(t *testing.T) {
	t.Parallel()
	root := newRoot(&conn.Factory{IO: &ui.IO{}})
	forEachCommand(root, func(name string, c *cobra.Command) {
		takes := regexp.MustCompile(`^\S+ .*\b(NAME|GLOB|TOKEN|ID|SEMAPHORE|COMMAND)\b`).MatchString(c.Use)
		known := !slices.Contains([]string{"context set", "cluster add", "cert peer", "cert client"}, name) // they name new objects
		if takes && known && c.ValidArgsFunction == nil {
			t.Errorf("arguments of %s have no completion: %s", name, c.Use)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains([]string{"selector", "group", "acquirer", "output", "context", "from", "to"}, f.Name) || f.Value.Type() == "uint64" {
				return
			}
			if _, done := c.GetFlagCompletionFunc(f.Name); !done {
				t.Errorf("%s --%s has no completion", name, f.Name)
			}
		})
	})
}

// Scripts rely on the description of the JSON output in docs/gkctl-reference.md.
func TestJSON_EachCommand_IsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/gkctl-reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n## JSON for scripts\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var listed []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z ]+(?:-[a-z]+)?)[^`]*`").FindAllStringSubmatch(cells[1], -1) {
				listed = append(listed, strings.TrimSpace(m[1]))
			}
		}
	}
	if !found || len(listed) == 0 {
		t.Fatal("docs/gkctl-reference.md has no table of JSON output")
	}
	var have []string
	forEachCommand(newRoot(&conn.Factory{IO: &ui.IO{}}), func(name string, c *cobra.Command) {
		if f := c.Flags().Lookup("output"); f != nil && slices.Contains(f.Value.(*ui.Output).Formats, ui.JSON) {
			have = append(have, name)
			if !slices.Contains(listed, name) {
				t.Errorf("`%s` has -o json, but docs/gkctl-reference.md does not describe its output", name)
			}
		}
	})
	for _, name := range listed {
		if !slices.Contains(have, name) {
			t.Errorf("docs/gkctl-reference.md describes the -o json output of `%s`, which has no -o json", name)
		}
	}
}

func TestCommands_HaveShortHelpAndGroup(t *testing.T) {
	t.Parallel()
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden { // only gkctl itself runs hidden commands
			return
		}
		if c.Short == "" || c.HasParent() && !c.Parent().HasParent() && c.GroupID == "" && c.Name() != "help" {
			t.Errorf("%q has no short help or no command group", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&conn.Factory{IO: &ui.IO{}}))
}
