package docs

import (
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		name      string
		want, got string
		matches   bool
	}{
		{"IdenticalText_Matches", "a b\nc", "a b\nc", true},
		{"DifferentWord_DoesNotMatch", "a b", "a c", false},
		{"NumberOfSpaces_IsIgnored", "NAME  TOKEN\na  1", "NAME     TOKEN  \na        1", true},
		{"Placeholder_MatchesOneWord", "token <token>", "token 17", true},
		{"Placeholder_DoesNotMatchTwoWords", "token <token>", "token 17 18", false},
		{"Placeholder_RequiresAWord", "token <token>", "token", false},
		{"EllipsisInLine_MatchesAnything", "took ... in all", "took 3 ms and more in all", true},
		{"EllipsisLine_MatchesSeveralLines", "a\n...\nz", "a\nb\nc\nz", true},
		{"EllipsisLine_MatchesNoLines", "a\n...\nz", "a\nz", true},
		{"EllipsisLine_RequiresLaterLines", "a\n...\nz", "a\nb", false},
		{"MissingLine_DoesNotMatch", "a\nb", "a", false},
		{"ExtraLine_DoesNotMatch", "a", "a\nb", false},
		{"Metacharacters_AreLiteral", "app[12]+(x)", "app[12]+(x)", true},
		{"Metacharacters_MatchNothingElse", "app[12]", "app1", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := matches(strings.Split(test.want, "\n"), strings.Split(test.got, "\n")); got != test.matches {
				t.Errorf("matches() = %v, want %v", got, test.matches)
			}
		})
	}
}

func TestParsePage_ReturnsCommandsWithTheirOutput(t *testing.T) {
	p, err := parsePage("x.md", "<!-- servers: 3 -->\n<!-- machines: 10.0.0 -->\nText\n```console\n$ one\nout\n$ two \\\n  more\n$ cat <<'END'\n$ x\nEND\n```\n```yaml\na: 1\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	if p.servers != 3 || p.machines != "10.0.0" || len(p.commands) != 3 || len(p.otherBlocks) != 1 {
		t.Fatalf("parsePage() = %+v, want 3 servers, machines 10.0.0, 3 commands and 1 other block", p)
	}
	if c := p.commands[0]; c.text != "one" || c.line != 5 || len(c.output) != 1 || c.output[0] != "out" {
		t.Errorf("%+v", c)
	}
	if c := p.commands[2]; c.text != "cat <<'END'\n$ x\nEND" {
		t.Errorf("%+v", c)
	}
	if c := p.commands[1]; c.text != "two \\\n  more" || len(c.output) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestParsePage_BlockThatWouldNotRun_IsRejected(t *testing.T) {
	for _, text := range []string{"```\n$ one\n```", "```sh\none\n```", "```console\nout\n```", "```console\n$ one", "```console\n$ one \\\n```"} {
		if _, err := parsePage("x.md", text); err == nil {
			t.Errorf("parsePage(%q) succeeded, want an error", text)
		}
	}
}

func TestPageMatches_VaryingText_MayDiffer(t *testing.T) {
	p, err := parsePage("x.md", `<!-- varies: app\d|\d+ firings -->`)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]bool{"app3 ran 12 firings": true, "app3 ran": false, "app ran 12 firings": false} {
		if p.matches([]string{"app1 ran 4 firings"}, []string{got}) != want {
			t.Errorf("matches(%q) = %v, want %v", got, !want, want)
		}
	}
}
