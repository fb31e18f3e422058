//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package child

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// With a write deadline, send could time out before writing the group's id, and the guard could not kill the group.
func TestSend_FullPipe_DoesNotBlock(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g := &guard{pipe: w}
	g.sendGroup(1234)
	const more = 20_000 // more than a pipe can hold
	var sent []string
	for n := range more {
		g.sendUntil(time.Duration(n))
		sent = append(sent, keywordUntil+" "+strconv.Itoa(n))
	}
	_ = w.Close()
	var got []string
	for s := bufio.NewScanner(r); s.Scan(); {
		got = append(got, s.Text())
	}
	if len(got) < 2 || got[0] != "group 1234" || !slices.Equal(got[1:], sent[:len(got)-1]) {
		t.Errorf("guard read %d lines, want a prefix of the sent lines: %.5q", len(got), got)
	}
	if len(got) > more {
		t.Error("the pipe never filled up")
	}
}
