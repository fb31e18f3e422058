package semaphore

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxPatternSteps is the maximum size of a pattern after its repetitions are expanded. The cost of a match is
// proportional to this size times the length of the name, and the leader matches names while callers wait.
const MaxPatternSteps = 4096

// Patterns holds the compiled patterns of one definition. It is immutable and safe for concurrent use.
type Patterns struct {
	Group, Acquirer *Pattern
}

// A Pattern is a compiled pattern. It is immutable and safe for concurrent use. A nil Pattern matches nothing.
type Pattern struct {
	text string
	// kind distinguishes literal text and ".*", which most definitions use, from real patterns. Only real patterns are
	// compiled, so a cluster with 100,000 definitions does not keep a compiled program for each.
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

// CompilePattern compiles an RE2 pattern that must match whole names. The error is a *FieldError for the given field.
// It means that the pattern is empty, too long, not valid UTF-8 or not RE2 (which excludes look-around and
// back-references), or that it expands to too many steps.
func CompilePattern(field, pattern string) (*Pattern, error) {
	switch {
	case pattern == "":
		return nil, Invalid(field, pattern, `must not be empty: omit it, or use ".*", to admit everyone`)
	case len(pattern) > MaxPattern:
		return nil, Invalid(field, pattern,
			"must be at most "+strconv.Itoa(MaxPattern)+" bytes, not "+strconv.Itoa(len(pattern)))
	case !utf8.ValidString(pattern):
		return nil, Invalid(field, pattern, "must be valid UTF-8")
	}

	// Parse the pattern without the anchors first. In an anchored group, "a)|(b" would close the group and match names
	// that only begin with a or end with b.
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, Invalid(field, pattern, syntaxRule(pattern, err))
	}
	tree = tree.Simplify()
	program, err := syntax.Compile(tree)
	if err != nil {
		return nil, Invalid(field, pattern, syntaxRule(pattern, err))
	}
	if len(program.Inst) > MaxPatternSteps {
		return nil, Invalid(field, pattern, "must be smaller: it expands to "+
			strconv.Itoa(len(program.Inst))+" steps, and the maximum is "+strconv.Itoa(MaxPatternSteps))
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
			// A \Q without an \E runs to the end of the pattern, so it quotes our closing parenthesis.
			p.anchored, err = regexp.Compile(`\A(?:` + pattern + `\E)\z`)
		}
		if err != nil {
			return nil, Invalid(field, pattern, syntaxRule(pattern, err))
		}
	}
	return p, nil
}

// Match reports whether the whole group and the whole acquirer match.
func (p Patterns) Match(group, acquirer string) (g, a bool) {
	return p.Group.Match(group), p.Acquirer.Match(acquirer)
}

// Match reports whether the whole of s matches.
func (p *Pattern) Match(s string) bool {
	switch {
	case p == nil:
		return false
	case p.kind == plainPattern:
		return s == p.plain
	case p.kind == anyPattern:
		return !strings.Contains(s, "\n") // names contain no newlines, but this must match exactly what ".*" matches
	}
	return p.anchored.MatchString(s)
}

// Plain returns the only text that the pattern matches, or false if the pattern is not plain text.
func (p *Pattern) Plain() (text string, plain bool) {
	if p == nil || p.kind != plainPattern {
		return "", false
	}
	return p.plain, true
}

// String returns the pattern as written.
func (p *Pattern) String() string {
	if p == nil {
		return ""
	}
	return p.text
}

// syntaxRule turns an error from the regexp package into a rule. Users try features that they know from Perl, Java and
// Python. If RE2 excludes a feature by design, the rule names the feature and states the reason.
func syntaxRule(pattern string, err error) string {
	const linear = ": patterns are RE2, which bounds matching time and so does not support "
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return "must be a pattern in RE2 syntax: " + show(err.Error())
	}
	expr := bad.Expr
	switch {
	case strings.HasPrefix(expr, "(?="), strings.HasPrefix(expr, "(?!"):
		return "must not use look-ahead " + quote(expr) + linear + "look-around; list the names to admit, as in a|b"
	case strings.HasPrefix(expr, "(?<="), strings.HasPrefix(expr, "(?<!"):
		return "must not use look-behind " + quote(expr[:len("(?<=")]) + linear + "look-around; list the names to admit, as in a|b"
	case bad.Code == syntax.ErrInvalidEscape && len(expr) == 2 && strings.Contains("123456789kg", expr[1:]),
		expr == "(?P" && strings.Contains(pattern, "(?P="):
		return "must not use back-references " + quote(expr) + linear + "them"
	}
	rule := "must be a pattern in RE2 syntax: " + bad.Code.String()
	if expr != "" && expr != pattern {
		rule += " at " + quote(expr)
	}
	return rule
}
