package deffile

import (
	"fmt"
	"strings"
)

// Error is the first error found in a file.
type Error struct {
	File string
	// Line and Column are 1-based. 0 means unknown.
	Line, Column int
	Msg          string
}

// Error returns "file:line:column: message", the format that compilers use, so that editors can jump to the position.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	b.WriteString(e.Msg)
	return b.String()
}
