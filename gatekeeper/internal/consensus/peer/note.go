package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Note describes its sender in the queries that members exchange before they have a cluster, and in the answers.
//
// The format is frozen. A query has status 4 and an answer status 5. A refusal has the same format as for a hello. The
// body contains the five strings in the order below, each preceded by a two-byte length. New strings are added at the
// end, as in a hello. A server whose version does not know these statuses closes the connection without an answer.
type Note struct {
	// Cluster is the id that the sender has stored. It is empty if the sender has none, or does not reveal it to an
	// outsider.
	Cluster string
	From    string // the sender's member id
	To      string // the member id of the intended peer
	Set     string // a digest of the members that start together and of the cluster's name; empty for a member of a cluster
	State   State
}

// State is how far a member has progressed toward founding its cluster.
type State string

// The states, which are frozen.
const (
	// Empty: the member's data directory contains nothing.
	Empty State = "empty"
	// Holds: the member has stored the id of a cluster that it has not founded. It has never voted.
	Holds State = "holds"
	// Founded: the member belongs to a cluster, and may have voted and have data.
	Founded State = "founded"
)

func writeNote(w io.Writer, status byte, n Note) error {
	return writeMessage(w, status, texts(n.Cluster, n.From, n.To, n.Set, string(n.State)))
}

func parseNote(body []byte) (Note, error) {
	var n Note
	var state string
	if err := parseTexts(body, []*string{&n.Cluster, &n.From, &n.To, &n.Set, &state}); err != nil {
		return Note{}, err
	}
	if tooLong(n.Cluster, n.From, n.To, n.Set, state) {
		return Note{}, errNotPeer
	}
	n.State = State(state)
	return n, nil
}

// errAnswered ends a connection after a note has been answered.
var errAnswered = errors.New("peer: answered")

// reply answers a note and ends the connection.
func (l *Layer) reply(c *conn, n Note, proved bool) error {
	answer, err := l.founded(n, proved), error(nil)
	switch {
	case n.From == "" || n.From == l.cfg.ID:
		err = fmt.Errorf("%q is not another member's id", n.From)
	case n.To != l.cfg.ID:
		err = fmt.Errorf("this is %s, not %s", l.cfg.ID, n.To)
	case l.cfg.Asked != nil:
		answer, err = l.cfg.Asked(n)
	}
	if err != nil {
		if l.cfg.Held == nil && !proved && !l.sharesSeed(n.Cluster) {
			return errors.Join(err, writeNothing(c))
		}
		return errors.Join(err, writeRefusal(c, err))
	}
	if err := writeNote(c, statusTell, answer); err != nil {
		return err
	}
	return errAnswered
}

// founded returns the answer of a member that has a cluster. It hides the cluster from an outsider.
func (l *Layer) founded(n Note, proved bool) Note {
	answer := Note{From: l.cfg.ID, To: n.From, State: Founded}
	if proved || l.sharesSeed(n.Cluster) {
		answer.Cluster = l.cfg.Cluster
	}
	return answer
}

// Ask queries the member n.To at address, on a separate connection. It returns only that member's answer to this query.
func (l *Layer) Ask(ctx context.Context, address string, n Note) (Note, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	answer, err := l.ask(ctx, address, n)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) { // more useful than the error from the closed connection
		err = fmt.Errorf("no answer within %v", l.cfg.Timeout)
	}
	return answer, err
}

func (l *Layer) ask(ctx context.Context, address string, n Note) (Note, error) {
	c, err := l.connect(ctx, n.To, address)
	if err != nil {
		return Note{}, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.raw.Close() })()
	deadline, _ := ctx.Deadline()
	if err := l.secure(c, address, deadline); err != nil {
		return Note{}, err
	}
	if err := writeNote(c, statusAsk, n); err != nil && !closed(err) { // otherwise the answer gives the reason
		return Note{}, err
	}
	status, body, err := readMessage(c)
	switch {
	case closed(err):
		return Note{}, l.errClosed()
	case err != nil:
		return Note{}, l.explain(err)
	case status != statusTell:
		return Note{}, errNotPeer
	}
	answer, err := parseNote(body)
	switch {
	case err != nil:
		return Note{}, err
	case answer.From != n.To:
		return Note{}, fmt.Errorf("member %q answered", answer.From)
	case answer.To != n.From:
		return Note{}, fmt.Errorf("it answered member %q", answer.To)
	}
	return answer, nil
}
