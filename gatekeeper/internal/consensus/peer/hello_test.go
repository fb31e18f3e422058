package peer

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestHello_WrittenAndRead_IsTheSame(t *testing.T) {
	said := hello{Cluster: "c", From: "a", To: "b", API: "x:1", Folder: "f", Level: "2"}
	var b bytes.Buffer
	if err := writeHello(&b, said); err != nil {
		t.Fatal(err)
	}
	if heard, err := readHello(&b); err != nil || heard != said || heard.level() != 2 {
		t.Errorf("heard %+v, %v", heard, err)
	}
}

// A server of an earlier version says less, one of a later version more: during an upgrade they talk to each other.
func TestHello_OfAnotherVersion_IsUnderstood(t *testing.T) {
	fields := func(texts ...string) (body []byte) {
		for _, s := range texts {
			body = binary.BigEndian.AppendUint16(body, uint16(len(s)))
			body = append(body, s...)
		}
		return body
	}
	earlier, err := parseHello(fields("c", "a", "b", "x:1", "f"))
	if err != nil || earlier.level() != 1 {
		t.Errorf("an earlier one is %+v, %v; want level 1", earlier, err)
	}
	later, err := parseHello(fields("c", "a", "b", "x:1", "f", "9", "what nobody knows yet"))
	if err != nil || later.level() != 9 || later.Folder != "f" {
		t.Errorf("a later one is %+v, %v; want level 9", later, err)
	}
	for _, broken := range [][]byte{fields("c", "a", "b", "x:1"), append(fields("c", "a", "b", "x:1", "f"), 0), append(fields("c", "a", "b", "x:1", "f"), 0, 9, 'x')} {
		if _, err := parseHello(broken); err == nil {
			t.Errorf("%q was understood", broken)
		}
	}
}
