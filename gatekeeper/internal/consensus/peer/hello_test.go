package peer

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

func TestHello_RoundTrip(t *testing.T) {
	sent := hello{Cluster: "c", From: "a", To: "b", API: "x:1", DataDir: "f", Level: "2", Clock: "1700000000000000000"}
	var b bytes.Buffer
	if err := writeHello(&b, sent); err != nil {
		t.Fatal(err)
	}
	if got, err := readHello(&b); err != nil || got != sent || got.level() != 2 {
		t.Errorf("readHello() = %+v, %v, want %+v", got, err, sent)
	}
}

// A server of an earlier version sends fewer fields, and a server of a later version may send more. They must be
// compatible during an upgrade.
func TestHello_FromAnotherVersion_IsParsed(t *testing.T) {
	fields := func(texts ...string) (body []byte) {
		for _, s := range texts {
			body = binary.BigEndian.AppendUint16(body, uint16(len(s)))
			body = append(body, s...)
		}
		return body
	}
	earlier, err := parseHello(fields("c", "a", "b", "x:1", "f"))
	if err != nil || earlier.level() != 1 {
		t.Errorf("hello from an earlier version: %+v, %v, want level 1", earlier, err)
	}
	later, err := parseHello(fields("c", "a", "b", "x:1", "f", "9", "1000000000", "a later field"))
	if err != nil || later.level() != 9 || later.DataDir != "f" {
		t.Errorf("hello from a later version: %+v, %v, want level 9", later, err)
	}
	if ahead := later.ahead(time.Unix(0, 0), 500*time.Millisecond); ahead == nil || *ahead != 750*time.Millisecond {
		t.Errorf("ahead() = %v, want 750ms", ahead)
	}
	if ahead := earlier.ahead(time.Unix(0, 0), time.Second); ahead != nil {
		t.Errorf("ahead() = %v for an earlier version, which sends no clock, want nil", ahead)
	}
	for _, broken := range [][]byte{fields("c", "a", "b", "x:1"), append(fields("c", "a", "b", "x:1", "f"), 0), append(fields("c", "a", "b", "x:1", "f"), 0, 9, 'x')} {
		if _, err := parseHello(broken); err == nil {
			t.Errorf("parseHello(%q) succeeded, want an error", broken)
		}
	}
}
