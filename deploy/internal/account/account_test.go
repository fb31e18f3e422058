package account

import (
	"bytes"
	"strings"
	"testing"
)

type line struct {
	Event string `json:"event"`
	Token uint64 `json:"token,omitempty"`
}

func TestRead_TruncatedLastLine_ReturnsEarlierRecords(t *testing.T) {
	var text bytes.Buffer
	a := New(&text)
	a.Write(line{Event: "granted", Token: 7})
	a.Write(line{Event: "ended", Token: 7})
	var got []line
	err := Read(strings.NewReader(text.String()+`{"event":"gran`), func(l line) { got = append(got, l) })
	if err != nil || len(got) != 2 || got[0].Token != 7 || got[1].Event != "ended" {
		t.Errorf("Read() passed %v and returned %v, want two records and nil", got, err)
	}
}

func TestRead_InvalidRecord_Fails(t *testing.T) {
	if err := Read(strings.NewReader("panic: out of luck\n"), func(line) {}); err == nil {
		t.Error("Read() = nil, want an error")
	}
}
