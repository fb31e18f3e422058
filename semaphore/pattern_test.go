package semaphore

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPattern_MatchesWholeNamesOnly(t *testing.T) {
	for _, test := range []struct {
		pattern string
		yes, no string // separated by spaces
	}{
		{`.*`, "prod dr-site a", ""},
		{`prod`, "prod", "production xprod prodx pro PROD"},
		{`prod|dr-site`, "prod dr-site", "production xdr-site prod|dr-site"},
		{`app[12]`, "app1 app2", "app3 app12 app xapp1"},
		{`app\d+\.example\.com`, "app7.example.com", "app7xexample.com app.example.com"},
		{`(?i)prod`, "prod PROD Prod", "production"},
		{`^prod$`, "prod", "production"},
		{`no-run`, "no-run", "prod"},
		{`a|ab|abc`, "a ab abc", "abcd b"},
		{`\Qa.b`, "a.b", "axb a.b)"},
		{`\Qa|b\E|c`, "a|b c", "a b"},
		{`x\Q(`, "x(", "x"},
		{`[ab]\Qc.d`, "ac.d bc.d", "acxd ac.d)"},
		{`a|b\Q)|(c`, "a b)|(c", "b c b) (c"},
		{strings.Repeat("a?", 256), "a aa aaa", "b"},
		{`a.b`, "a.b axb aüb", "ab a..b"},
		{`(a)(?:b)(?P<n>c)`, "abc", "ab"},
		{`.+?`, "a prod", ""},
		{`ü{2}`, "üü", "ü üüü"},
		{`(?U)a+`, "a aa", "ab"},
		{`(?s).*`, "prod", ""},
		{`.`, "a ü", "ab"},
	} {
		p, err := CompilePattern("group_pattern", test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		if p.String() != test.pattern {
			t.Errorf("String() = %q, want %q", p.String(), test.pattern)
		}
		for _, s := range strings.Fields(test.yes) {
			if !p.Match(s) {
				t.Errorf("%s does not match %q", test.pattern, s)
			}
		}
		for _, s := range strings.Fields(test.no) {
			if p.Match(s) {
				t.Errorf("%s matches %q", test.pattern, s)
			}
		}
	}
}

func TestPattern_Newline_DoesNotMatch(t *testing.T) {
	for _, pattern := range []string{`prod`, `.*`, `(?m)^prod$`, `prod|dr`} {
		p, err := CompilePattern("group_pattern", pattern)
		if err != nil {
			t.Fatal(err)
		}
		if p.Match("prod\nx") || p.Match("prod\n") || p.Match("x\nprod") {
			t.Errorf("%s matches across lines", pattern)
		}
	}
}

func TestCompilePattern_Invalid_ReportsReason(t *testing.T) {
	const linear = ": patterns are RE2, which bounds matching time and so does not support "
	const names = linear + "look-around; list the names to admit, as in a|b"
	for _, test := range []struct{ pattern, rule string }{
		{"", `must not be empty: omit it, or use ".*", to admit everyone`},
		{strings.Repeat("a", 513), "must be at most 512 bytes, not 513"},
		{"a\xff", "must be valid UTF-8"},
		{`a)|(b`, "must be a pattern in RE2 syntax: unexpected )"},
		{`a)|(?:b`, "must be a pattern in RE2 syntax: unexpected )"},
		{`(a`, "must be a pattern in RE2 syntax: missing closing )"},
		{`x[a`, "must be a pattern in RE2 syntax: missing closing ] at \"[a\""},
		{`a\`, "must be a pattern in RE2 syntax: trailing backslash at end of expression"},
		{`a**`, `must be a pattern in RE2 syntax: invalid nested repetition operator at "**"`},
		{`prod\E`, `must be a pattern in RE2 syntax: invalid escape sequence at "\E"`},
		{`(?=prod).*`, `must not use look-ahead "(?="` + names},
		{`(?!prod).*`, `must not use look-ahead "(?!"` + names},
		{`.*(?<=prod)`, `must not use look-behind "(?<="` + names},
		{`.*(?<!prod)`, `must not use look-behind "(?<!"` + names},
		{`(a)\1`, `must not use back-references "\1"` + linear + "them"},
		{`(?P<n>a)(?P=n)`, `must not use back-references "(?P"` + linear + "them"},
		{`(?<n>a)\k<n>`, `must not use back-references "\k"` + linear + "them"},
		{`(?>a)`, `must be a pattern in RE2 syntax: invalid or unsupported Perl syntax at "(?>"`},
		{`a{1001}`, `must be a pattern in RE2 syntax: invalid repeat count at "{1001}"`},
		{strings.Repeat(`\w{1000}`, 5), "must be smaller: it expands to 5002 steps, and the maximum is 4096"},
	} {
		_, err := CompilePattern("acquirer_pattern", test.pattern)
		var bad *FieldError
		if !errors.As(err, &bad) {
			t.Errorf("%s: CompilePattern() = %v, want a *FieldError", test.pattern, err)
			continue
		}
		if bad.Field != "acquirer_pattern" || bad.Value != show(test.pattern) || bad.Rule != test.rule {
			t.Errorf("%s: field %s, value %q\n got rule %s\nwant rule %s", test.pattern, bad.Field, bad.Value, bad.Rule, test.rule)
		}
	}
}

func TestCompilePatterns_Invalid_ReportsField(t *testing.T) {
	if _, err := CompilePatterns("prod", "("); err == nil || !strings.HasPrefix(err.Error(), `acquirer_pattern "(": `) {
		t.Errorf("CompilePatterns() = %v, want an error for the first invalid pattern", err)
	}
	if _, err := CompilePatterns("(", ")"); err == nil || !strings.HasPrefix(err.Error(), `group_pattern "(": `) {
		t.Errorf("CompilePatterns() = %v, want an error for the first invalid pattern", err)
	}
	both, err := CompilePatterns("prod", "app[12]")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		group, acquirer string
		g, a            bool
	}{{"prod", "app1", true, true}, {"prod", "app3", true, false}, {"dr", "app1", false, true}, {"dr", "db1", false, false}} {
		if g, a := both.Match(test.group, test.acquirer); g != test.g || a != test.a {
			t.Errorf("Match(%s, %s) = %v, %v", test.group, test.acquirer, g, a)
		}
	}
}

func TestPattern_Nil_MatchesNothing(t *testing.T) {
	var p *Pattern
	if p.Match("") || p.Match("prod") || p.String() != "" {
		t.Error("a nil Pattern matches a name")
	}
	if g, a := (Patterns{}).Match("prod", "app1"); g || a {
		t.Error("the zero Patterns value matches a name")
	}
}

// FuzzPattern searches for a pattern that escapes from its group, is mistaken for plain text, or matches only part of a
// name. It checks Match against the longest match of the unwrapped pattern.
func FuzzPattern(f *testing.F) {
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := CompilePattern("group_pattern", pattern)
		unwrapped, unwrappedErr := regexp.Compile(pattern)
		if err != nil {
			var bad *FieldError
			if !errors.As(err, &bad) {
				t.Fatalf("CompilePattern: got %v, want a *FieldError", err)
			}
			if !utf8.ValidString(bad.Error()) || hasControl(bad.Error()) {
				t.Fatalf("the error %q is not printable", bad.Error())
			}
			if unwrappedErr == nil && pattern != "" && len(pattern) <= MaxPattern && !strings.Contains(bad.Rule, " steps, ") {
				t.Fatalf("%q is rejected, but regexp compiles it: %v", pattern, err)
			}
			return
		}
		if unwrappedErr != nil {
			t.Fatalf("%q is accepted, but regexp does not compile it: %v", pattern, unwrappedErr)
		}
		if !utf8.ValidString(name) || len(name) > MaxName {
			return
		}
		// Longest makes regexp return the leftmost-longest match. If the whole name matches, that match is the whole
		// name.
		unwrapped.Longest()
		at := unwrapped.FindStringIndex(name)
		if whole := at != nil && at[0] == 0 && at[1] == len(name); p.Match(name) != whole {
			t.Fatalf("%q.Match(%q) = %v, want %v", pattern, name, p.Match(name), whole)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, pattern := range []string{`.*`, `prod`, `app[12]`, `prod|dr-site`, `app\d+\.example\.com`} {
		b.Run(pattern, func(b *testing.B) {
			p, err := CompilePattern("group_pattern", pattern)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				matched = p.Match("app17.example.com")
			}
		})
	}
	b.Run("largest", func(b *testing.B) { // close to MaxPatternSteps
		p, err := CompilePattern("group_pattern", strings.Repeat(`(\w*x?){31}`, 18))
		if err != nil {
			b.Fatal(err)
		}
		name := strings.Repeat("x", MaxName-1) + "!"
		for b.Loop() {
			matched = p.Match(name)
		}
	})
}

var matched bool // a package variable, so that the compiler cannot optimize the call away
