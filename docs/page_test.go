package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// page holds the commands and blocks of a documentation page.
//
// A line "<!-- servers: 3 -->" starts a new cluster with three servers for the page's commands.
// "<!-- definitions: FILE -->" loads a file from the repository into that cluster. "<!-- machines: 10.0.0 -->"
// simulates machines with the addresses 10.0.0.N, reachable by ssh and scp. "<!-- varies: PATTERN -->" lets a page show
// real output: text that matches the pattern may differ from run to run.
//
// Fenced console blocks contain commands, each prefixed with "$ ", and their output. A command continues on the next
// line after a backslash, and in a here-document from <<'END' to END.
type page struct {
	file        string
	servers     int
	definitions string
	machines    string // the first three octets of the machines' addresses
	varies      *regexp.Regexp
	commands    []command
	otherBlocks []block
}

// command is one command on a page.
type command struct {
	line   int
	text   string
	output []string
}

// block is a fenced block.
type block struct {
	line int
	kind string
	text string
}

var directive = regexp.MustCompile(`^<!-- (servers|definitions|machines|varies): (.+) -->$`)

func parsePage(file, text string) (*page, error) {
	p := &page{file: file}
	var in *block
	for i, line := range strings.Split(text, "\n") {
		switch {
		case in == nil && strings.HasPrefix(line, "```"):
			in = &block{line: i + 1, kind: strings.TrimPrefix(line, "```")}
		case in != nil && line == "```":
			if err := p.add(*in); err != nil {
				return nil, err
			}
			in = nil
		case in != nil:
			in.text += line + "\n"
		default:
			if m := directive.FindStringSubmatch(line); m != nil {
				var err error
				switch m[1] {
				case "definitions":
					p.definitions = m[2]
				case "machines":
					p.machines = m[2]
				case "varies":
					p.varies, err = regexp.Compile(m[2])
				default:
					p.servers, err = strconv.Atoi(m[2])
				}
				if err != nil {
					return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
				}
			}
		}
	}
	if in != nil {
		return nil, fmt.Errorf("%s:%d: unclosed block", file, in.line)
	}
	return p, nil
}

func (p *page) add(b block) error {
	switch b.kind {
	case "console":
	case "", "sh", "bash", "shell":
		return fmt.Errorf("%s:%d: a block of kind %q would not be tested: use console for commands, or name the block's language", p.file, b.line, b.kind)
	default:
		p.otherBlocks = append(p.otherBlocks, b)
		return nil
	}
	open := false // the command continues on the next line
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		last := len(p.commands) - 1
		switch {
		case open:
			p.commands[last].text += "\n" + line
			open = continues(p.commands[last].text)
		case strings.HasPrefix(line, "$ "):
			p.commands = append(p.commands, command{line: b.line + 1 + i, text: strings.TrimPrefix(line, "$ ")})
			open = continues(p.commands[last+1].text)
		case i == 0:
			return fmt.Errorf("%s:%d: a console block must begin with a command", p.file, b.line)
		default:
			p.commands[last].output = append(p.commands[last].output, line)
		}
	}
	if open {
		return fmt.Errorf("%s:%d: the block's last command is incomplete", p.file, b.line)
	}
	return nil
}

// continues reports whether a command continues on the next line: after a backslash, or within a here-document that
// ends with END.
func continues(text string) bool {
	return strings.HasSuffix(text, `\`) || strings.Contains(text, "<<'END'") && !strings.HasSuffix(text, "\nEND")
}

var (
	spaces      = regexp.MustCompile(`[ \t]+`)
	placeholder = regexp.MustCompile(`<[a-z][a-z0-9 -]*>|\.\.\.`)
)

// linePattern returns a pattern for one line of expected output. <word> matches one word, and ... matches anything. The
// number of spaces does not matter, because the width of a table depends on its contents.
func linePattern(line string) *regexp.Regexp {
	line = spaces.ReplaceAllString(strings.TrimSpace(line), " ")
	var b strings.Builder
	b.WriteString("^")
	for {
		at := placeholder.FindStringIndex(line)
		if at == nil {
			b.WriteString(regexp.QuoteMeta(line) + "$")
			return regexp.MustCompile(b.String())
		}
		b.WriteString(regexp.QuoteMeta(line[:at[0]]))
		if line[at[0]:at[1]] == "..." {
			b.WriteString(".*")
		} else {
			b.WriteString(`\S+`)
		}
		line = line[at[1]:]
	}
}

// matches reports whether real output matches the page's output. Text that matches p.varies may differ.
func (p *page) matches(want, got []string) bool {
	if p.varies == nil {
		return matches(want, got)
	}
	want, got = slices.Clone(want), slices.Clone(got)
	for _, lines := range [][]string{want, got} {
		for i, line := range lines {
			lines[i] = p.varies.ReplaceAllString(line, "*")
		}
	}
	return matches(want, got)
}

// matches reports whether real output matches a page's output. A line with only "..." matches any number of lines.
func matches(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "..." {
		for i := 0; i <= len(got); i++ {
			if matches(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	if len(got) == 0 {
		return false
	}
	line := spaces.ReplaceAllString(strings.TrimSpace(got[0]), " ")
	return linePattern(want[0]).MatchString(line) && matches(want[1:], got[1:])
}
