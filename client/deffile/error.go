package deffile

import (
	"fmt"
	"strings"
)

// Error is the first fault of a file.
type Error struct {
	File string
	// Line and Column count from 1. Column is 0 when it is not known, and so is Line.
	Line, Column int
	Msg          string
}

// Error says file:line:column: message, as compilers do, so that editors can jump there.
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
