package semaphore

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxPatternSteps bounds how large a pattern may become when its repetitions are written out: matching costs steps
// times the bytes of a name, and the leader does it while callers wait.
const MaxPatternSteps = 4096

// Patterns are the compiled patterns of one definition. They never change and may be used by many goroutines.
type Patterns struct {
	Group, Acquirer *Pattern
}

// Pattern is one compiled pattern. It never changes and may be used by many goroutines. A nil Pattern matches nothing.
type Pattern struct {
	text string
	// kind: plain texts and ".*" are what most definitions say. A table of 100 000 of them shall not keep as many
	// compiled programs for a comparison.
	kind     patternKind
	plain    string         // of a plainPattern
	anchored *regexp.Regexp // of a realPattern
}

type patternKind uint8

const (
	realPattern patternKind = iota
	plainPattern
	anyPattern
)

// CompilePatterns compiles the patterns of a definition. The error is a *FieldError for "group_pattern" or
// "acquirer_pattern".
func CompilePatterns(group, acquirer string) (Patterns, error) {
	g, err := CompilePattern("group_pattern", group)
	if err != nil {
		return Patterns{}, err
	}
	a, err := CompilePattern("acquirer_pattern", acquirer)
	if err != nil {
		return Patterns{}, err
	}
	return Patterns{Group: g, Acquirer: a}, nil
}

// CompilePattern compiles an RE2 pattern that whole names are matched with. The error is a *FieldError for that field:
// the pattern is empty, too long, not UTF-8, not RE2 (look-around and back-references are not), or grows too large.
func CompilePattern(field, pattern string) (*Pattern, error) {
	switch {
	case pattern == "":
		return nil, Invalid(field, pattern, `must not be empty: leave it out, or write ".*", to admit everybody`)
	case len(pattern) > MaxPattern:
		return nil, Invalid(field, pattern,
			"must be at most "+strconv.Itoa(MaxPattern)+" bytes, not "+strconv.Itoa(len(pattern)))
	case !utf8.ValidString(pattern):
		return nil, Invalid(field, pattern, "must be valid UTF-8")
	}

	// The pattern is parsed alone first. Wrapped immediately, "a)|(b" would close the group that anchors it and match
	// names that only begin with a or end with b.
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, Invalid(field, pattern, whyRefused(pattern, err))
	}
	tree = tree.Simplify()
	program, err := syntax.Compile(tree)
	if err != nil {
		return nil, Invalid(field, pattern, whyRefused(pattern, err))
	}
	if len(program.Inst) > MaxPatternSteps {
		return nil, Invalid(field, pattern, "must be smaller: its repetitions write out to "+
			strconv.Itoa(len(program.Inst))+" steps, and "+strconv.Itoa(MaxPatternSteps)+" is the most")
	}

	p := &Pattern{text: pattern}
	switch {
	case tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0:
		p.kind, p.plain = plainPattern, string(tree.Rune)
	case tree.Op == syntax.OpStar && tree.Sub[0].Op == syntax.OpAnyCharNotNL:
		p.kind = anyPattern
	default:
		p.anchored, err = regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil {
			// A \Q without its \E runs to the end of the pattern, and here takes our closing parenthesis for text.
			p.anchored, err = regexp.Compile(`\A(?:` + pattern + `\E)\z`)
		}
		if err != nil {
			return nil, Invalid(field, pattern, whyRefused(pattern, err))
		}
	}
	return p, nil
}

// Match says whether the whole group and the whole acquirer match.
func (p Patterns) Match(group, acquirer string) (g, a bool) {
	return p.Group.Match(group), p.Acquirer.Match(acquirer)
}

// Match says whether the whole of s matches.
func (p *Pattern) Match(s string) bool {
	switch {
	case p == nil:
		return false
	case p.kind == plainPattern:
		return s == p.plain
	case p.kind == anyPattern:
		return !strings.Contains(s, "\n") // no name has one, but this must be what ".*" means
	}
	return p.anchored.MatchString(s)
}

// Plain returns the one text that the pattern matches; false if it is not a plain text.
func (p *Pattern) Plain() (text string, plain bool) {
	if p == nil || p.kind != plainPattern {
		return "", false
	}
	return p.plain, true
}

// String is the pattern as it was written.
func (p *Pattern) String() string {
	if p == nil {
		return ""
	}
	return p.text
}

// whyRefused turns the regexp package's error into a rule. People try what they know from Perl, Java and Python: what
// RE2 leaves out on purpose is named, with the reason.
func whyRefused(pattern string, err error) string {
	const linear = ": patterns are RE2, whose matching time is bounded, so they have "
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return "must be a pattern in RE2 syntax: " + show(err.Error())
	}
	expr := bad.Expr
	switch {
	case strings.HasPrefix(expr, "(?="), strings.HasPrefix(expr, "(?!"):
		return "must not use look-ahead " + quote(expr) + linear + "no look-around; write the names to admit, as in a|b"
	case strings.HasPrefix(expr, "(?<="), strings.HasPrefix(expr, "(?<!"):
		return "must not use look-behind " + quote(expr[:len("(?<=")]) + linear + "no look-around; write the names to admit, as in a|b"
	case bad.Code == syntax.ErrInvalidEscape && len(expr) == 2 && strings.Contains("123456789kg", expr[1:]),
		expr == "(?P" && strings.Contains(pattern, "(?P="):
		return "must not use back-references " + quote(expr) + linear + "none"
	}
	rule := "must be a pattern in RE2 syntax: " + bad.Code.String()
	if expr != "" && expr != pattern {
		rule += " at " + quote(expr)
	}
	return rule
}
