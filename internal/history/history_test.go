package history

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"
)

func recordedEntries() []Entry {
	var log Log
	at := time.Second
	now := func() time.Duration { at += time.Millisecond; return at }
	a, b := NewRecorder("a", now, log.Put), NewRecorder("b", now, log.Put)
	answer := a.Call(Request{Kind: Acquire, Semaphore: "s", RequestID: "1", Weight: 1})
	b.Call(Request{Kind: Acquire, Semaphore: "s", RequestID: "2", Weight: 1})
	answer(Known, Response{Result: Granted, Token: 7}, nil)
	a.Call(Request{Kind: Refresh, Token: 7})(Unknown, Response{}, errors.New("no connection"))
	a.Belief(Belief{Semaphore: "s", Token: 7, Weight: 1, From: at, Until: at + time.Second})
	a.Belief(Belief{Semaphore: "s", Token: 7, Weight: 1, From: at, Until: at + 3*time.Second})
	log.Put(Entry{Death: &Death{Client: "a", At: at + 2*time.Second}})
	log.Put(Entry{Fault: &Fault{At: at, Kind: "kill", On: "gk1"}})
	log.Put(Entry{State: &State{Member: "gk1", Index: 3, Hash: "aa"}})
	b.HandedTask(HandedTask{Token: 7, Job: "j", Index: 1, Content: "x", Attempt: 1})
	return log.Entries()
}

func TestDecode_AfterEncode_ReturnsEntries(t *testing.T) {
	var text bytes.Buffer
	if err := Encode(&text, recordedEntries()); err != nil {
		t.Fatal(err)
	}
	complete := text.Len()
	text.WriteString(`{"call":{"cli`) // the writer was killed here
	got, err := Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if want := recordedEntries(); !reflect.DeepEqual(got, want) {
		t.Errorf("Decode() of %d bytes = %+v, want %+v", complete, got, want)
	}
}

func TestDecode_Garbage_Fails(t *testing.T) {
	if _, err := Decode(bytes.NewBufferString("hello\n")); err == nil {
		t.Error("Decode() accepted garbage")
	}
}

func TestGather_PairsCallsAndResponses(t *testing.T) {
	h, err := Gather(recordedEntries())
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Operations) != 3 || len(h.Faults) != 1 || len(h.States) != 1 || len(h.HandedTasks) != 1 {
		t.Fatalf("Gather() = %+v, want 3 operations and one of everything else", h)
	}
	for i, want := range []Outcome{Known, Unknown, Unknown} {
		if got := h.Operations[i].Outcome(); got != want {
			t.Errorf("operation %d: got outcome %s, want %s", i, got, want)
		}
	}
	if answer, ok := h.Operations[0].Response(); !ok || answer.Token != 7 {
		t.Errorf("Response() of the acquire = %+v, %v; want token 7", answer, ok)
	}
	if len(h.Beliefs) != 1 || h.Beliefs[0].Until-h.Beliefs[0].From != 2*time.Second {
		t.Errorf("got beliefs %+v, want only the last entry, ending when the client died", h.Beliefs)
	}
}

func TestGather_ContradictoryEntries_Fail(t *testing.T) {
	call := Entry{Call: &Call{Client: "a", Seq: 1, At: 5}}
	for name, entries := range map[string][]Entry{
		"two calls":                  {call, call},
		"two responses":              {call, {Return: &Return{Client: "a", Seq: 1, At: 6}}, {Return: &Return{Client: "a", Seq: 1, At: 7}}},
		"a response without a call":  {call, {Return: &Return{Client: "a", Seq: 2, At: 6}}},
		"a response before its call": {call, {Return: &Return{Client: "a", Seq: 1, At: 4}}},
	} {
		if _, err := Gather(entries); err == nil {
			t.Errorf("Gather() with %s succeeded, want an error", name)
		}
	}
}

func TestDenial_CallerWithPermit_IsUnknown(t *testing.T) {
	for _, c := range []struct {
		reason string
		own    bool
		want   Outcome
	}{
		{"NO_FREE_PERMIT", false, Known},
		{"PAUSED", false, Known},
		{"PAUSED", true, Unknown},
		{"HELD_FOR_OPERATOR", false, Unknown},
	} {
		got, answer := Denial(c.reason, 2, c.own)
		if got != c.want || got == Known && answer != (Response{Result: Denied, Reason: c.reason, Waiting: 2}) {
			t.Errorf("Denial(%s), own permit %t: got %s %+v, want %s", c.reason, c.own, got, answer, c.want)
		}
	}
}
