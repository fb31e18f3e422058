package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/certs"
)

// startingMember returns the layer of a member that has not joined a cluster yet. If heldID is not empty, the member
// holds that cluster id.
func startingMember(t *testing.T, id, heldID string) *host {
	return newHost(t, id, func(c *Config) {
		c.Cluster = ""
		c.HeldID = func() string { return heldID }
		c.AnswerNote = func(n Note) (Note, error) {
			if n.Set != "set" {
				return Note{}, errors.New("another set")
			}
			return Note{Cluster: heldID, From: id, To: n.From, Set: "set", State: HoldsID}, nil
		}
	})
}

func query(h *host, to string, at *host, n Note) (Note, error) {
	n.From, n.To = h.cfg.ID, to
	return h.Query(context.Background(), at.addr, n)
}

func TestQuery_StartingMember_IsAnswered(t *testing.T) {
	a, b := startingMember(t, "a", ""), startingMember(t, "b", "c1")
	answer, err := query(a, "b", b, Note{Set: "set", State: Empty})
	if want := (Note{Cluster: "c1", From: "b", To: "a", Set: "set", State: HoldsID}); err != nil || answer != want {
		t.Errorf("Query() = %+v, %v, want the state of b", answer, err)
	}
	for name, test := range map[string]struct {
		to, set, want string
	}{
		"another set":    {"b", "other", "another set"},
		"another member": {"c", "set", "this is b, not c"},
		"itself":         {"b", "set", `"b" is not another member's id`},
	} {
		from := a
		if name == "itself" {
			from = startingMember(t, "b", "")
		}
		if _, err := query(from, test.to, b, Note{Set: test.set}); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), `\"`, `"`), test.want) {
			t.Errorf("%s: Query() = %v, want %q", name, err, test.want)
		}
	}
}

// The members of a new cluster are configured with different TLS files, or one of them without TLS.
func TestQuery_DifferentTLSFiles_ErrorNamesFlags(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	good := ca.issue(t, "127.0.0.1")
	swapped := good
	swapped.CA = other.file // does not trust its peers, but they trust it
	untrusted := other.issue(t, "127.0.0.1")
	untrusted.CA = ca.file // trusts its peers, but they do not trust it
	start := func(id string, files certs.Files) *host {
		return newHost(t, id, func(c *Config) {
			c.Cluster, c.TLS = "", files
			c.HeldID = func() string { return "" }
			c.AnswerNote = func(n Note) (Note, error) { return Note{From: id, To: n.From, Set: "set", State: Empty}, nil }
		})
	}
	for name, test := range map[string]struct {
		a, b certs.Files
		want []string
	}{
		"trusts another authority":           {swapped, good, []string{"compare --peer-tls-ca", other.file}},
		"certificate from another authority": {untrusted, good, []string{"it rejects this server's certificate", untrusted.Cert, "compare --peer-tls-ca"}},
		"only the other member has TLS":      {certs.Files{}, good, []string{"it uses TLS, and this server does not", "--peer-tls-cert"}},
		"only this member has TLS":           {good, certs.Files{}, []string{"it does not speak TLS", "--peer-tls-cert"}},
	} {
		a, b := start("a", test.a), start("b", test.b)
		_, err := query(a, "b", b, Note{Set: "set", State: Empty})
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want %q", name, err, want)
			}
		}
	}
}

// A member reveals that it belongs to a cluster, but it sends the cluster's id only to peers that already have it.
func TestQuery_ClusterMember_HidesClusterFromOutsiders(t *testing.T) {
	b := newHost(t, "b", nil)
	a := startingMember(t, "a", "")
	if answer, err := query(a, "b", b, Note{Set: "set", State: Empty}); err != nil || answer != (Note{From: "b", To: "a", State: Founded}) {
		t.Errorf("Query() by an outsider = %+v, %v, want an answer without the cluster", answer, err)
	}
	if answer, err := query(a, "b", b, Note{Cluster: "c1", Set: "set", State: HoldsID}); err != nil || answer.Cluster != "c1" || answer.State != Founded {
		t.Errorf("Query() with the cluster's id = %+v, %v, want an answer with the cluster", answer, err)
	}
	refused, ok := errors.AsType[*RefusedError](func() error { _, err := query(a, "x", b, Note{}); return err }())
	if !ok || refused.Reason != "" {
		t.Errorf("Query() by an outsider for another member = %v, want a refusal without a reason", refused)
	}
}

// Only peers of the same cluster learn the reason for the refusal, which is that this member's cluster has not been
// founded yet.
func TestDial_StartingMember_RefusesEveryPeer(t *testing.T) {
	member := newHost(t, "a", nil)
	for heldID, want := range map[string]string{"c1": "is still waiting for its cluster to be founded", "": "without a reason", "c2": "without a reason"} {
		b := startingMember(t, "b", heldID)
		if _, err := dial(member, "b", b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("held id %q: dial = %v, want %q", heldID, err, want)
		}
	}
	noCluster := newHost(t, "n", func(c *Config) { c.Cluster = "" })
	if _, err := dial(noCluster, "b", startingMember(t, "b", "")); err == nil {
		t.Error("two members without a cluster accepted each other as peers")
	}
}

// A server without support for notes closes the connection.
func TestQuery_ServerWithoutNotes_ErrorMentionsVersion(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serverDone := make(chan struct{})
	go func() {
		defer close(serverDone)
		c, err := listener.Accept()
		if err == nil {
			_, _, _ = readMessage(c)
			c.Close()
		}
	}()
	a := startingMember(t, "a", "")
	if _, err := a.Query(t.Context(), listener.Addr().String(), Note{From: "a", To: "b"}); err == nil || !strings.Contains(err.Error(), "whose version does not answer") {
		t.Errorf("Query() = %v, want an error about the server's version", err)
	}
	listener.Close()
	<-serverDone
}

func TestNote_RoundTrip(t *testing.T) {
	sent := Note{Cluster: "c", From: "a", To: "b", Set: "s", State: Founded}
	var b bytes.Buffer
	if err := writeNote(&b, statusQuery, sent); err != nil {
		t.Fatal(err)
	}
	if golden := "gkpeer\x00\x01\x04\x00\x15\x00\x01c\x00\x01a\x00\x01b\x00\x01s\x00\x07founded"; b.String() != golden {
		t.Errorf("writeNote() wrote %q, want the frozen format %q", b.String(), golden)
	}
	status, body, err := readMessage(&b)
	if err != nil || status != statusQuery {
		t.Fatal(status, err)
	}
	if got, err := parseNote(append(body, encodeFields("a later field")...)); err != nil || got != sent {
		t.Errorf("parseNote() = %+v, %v, want %+v", got, err, sent)
	}
	for _, broken := range [][]byte{nil, encodeFields("c", "a", "b", "s"), encodeFields(strings.Repeat("x", 65), "a", "b", "s", "empty"), append(encodeFields("c", "a", "b", "s", "empty"), 0)} {
		if _, err := parseNote(broken); err == nil {
			t.Errorf("parseNote(%q) succeeded, want an error", broken)
		}
	}
	if _, _, err := readMessage(strings.NewReader("gkpeer\x00\x01\x04")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("readMessage of a truncated message = %v, want io.ErrUnexpectedEOF", err)
	}
}

// FuzzParseNote checks that any input is either rejected or parsed into a note that survives a round trip.
func FuzzParseNote(f *testing.F) {
	var b bytes.Buffer
	_ = writeNote(&b, statusQuery, Note{Cluster: "c", From: "a", To: "b", Set: "s", State: HoldsID})
	f.Add(b.Bytes())
	f.Add([]byte("gkpeer\x00\x04\x00\x02\x00\x00"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, body, err := readMessage(bytes.NewReader(data))
		if err != nil {
			return
		}
		n, err := parseNote(body)
		if err != nil {
			return
		}
		var written bytes.Buffer
		if err := writeNote(&written, statusQuery, n); err != nil {
			t.Fatalf("%+v: %v", n, err)
		}
		_, body, err = readMessage(&written)
		if err != nil {
			t.Fatal(err)
		}
		if reread, err := parseNote(body); err != nil || reread != n {
			t.Errorf("%+v was read back as %+v, %v", n, reread, err)
		}
	})
}
