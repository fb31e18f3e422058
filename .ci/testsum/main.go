// Command testsum summarizes the output of `go test -json`: one line per package, the output of every failed test, and
// a final line "N passed, N failed, N skipped". Subtests count as tests.
//
// The exit code is 1 if a test failed or did not finish, if a skipped test is not in the file given by -skips, or if no
// test passed, because such a run proves nothing.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// module is the prefix removed from package paths. The skip list omits it too.
const module = "github.com/gatekeeperd/gatekeeper/"

func main() {
	skips := flag.String("skips", "", "file listing the tests that may be skipped")
	flag.Parse()
	os.Exit(run(os.Stdin, os.Stdout, *skips))
}

func run(in io.Reader, out io.Writer, skipsFile string) int {
	allowed, err := readSkips(skipsFile)
	if err != nil {
		fmt.Fprintln(out, "testsum:", err)
		return 1
	}
	s := newSummary(out, allowed)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(out, "testsum: reading the test output:", err)
			return 1
		}
	}
	if s.finish() {
		return 0
	}
	return 1
}

// readSkips reads lines of the form "package test reason". # starts a comment. A line without a reason is an error.
func readSkips(file string) (map[testName]string, error) {
	allowed := map[testName]string{}
	if file == "" {
		return allowed, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s:%d: want package, test and reason", file, i+1)
		}
		allowed[testName{fields[0], fields[1]}] = strings.Join(fields[2:], " ")
	}
	return allowed, nil
}
