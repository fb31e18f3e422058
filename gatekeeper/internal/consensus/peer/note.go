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
// end, as in a hello. A server whose version does not support these statuses closes the connection without answering.
type Note struct {
	// Cluster is the id that the sender has stored. It is empty if the sender has none, or does not reveal it to an
	// outsider.
	Cluster string
	From    string // the sender's member id
	To      string // the member id of the intended peer
	Set     string // a digest of the starting members and the cluster's name; empty for a member of a cluster
	State   State
}

// State is how far a member has progressed toward founding its cluster.
type State string

// The states, which are frozen.
const (
	// Empty means that the member has not stored the id of a cluster.
	Empty State = "empty"
	// HoldsID means that the member has stored the id of a cluster that it has not founded. It has never voted.
	HoldsID State = "holds"
	// Founded means that the member belongs to a cluster and may have voted and have data.
	Founded State = "founded"
)

func writeNote(w io.Writer, status byte, n Note) error {
	return writeMessage(w, status, encodeFields(n.Cluster, n.From, n.To, n.Set, string(n.State)))
}

func parseNote(body []byte) (Note, error) {
	var n Note
	var state string
	if err := parseFields(body, []*string{&n.Cluster, &n.From, &n.To, &n.Set, &state}); err != nil {
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

// answerNote answers a note and ends the connection.
func (l *Layer) answerNote(c *conn, n Note, verified bool) error {
	answer, err := l.foundedNote(n, verified), error(nil)
	switch {
	case n.From == "" || n.From == l.cfg.ID:
		err = fmt.Errorf("%q is not another member's id", n.From)
	case n.To != l.cfg.ID:
		err = fmt.Errorf("this is %s, not %s", l.cfg.ID, n.To)
	case l.cfg.AnswerNote != nil:
		answer, err = l.cfg.AnswerNote(n)
	}
	if err != nil {
		if l.cfg.HeldID == nil && !verified && !l.sharesSeed(n.Cluster) {
			return errors.Join(err, writeEmptyRefusal(c))
		}
		return errors.Join(err, writeRefusal(c, err))
	}
	if err := writeNote(c, statusAnswer, answer); err != nil {
		return err
	}
	return errAnswered
}

// foundedNote returns the answer of a member that has a cluster. It hides the cluster from an outsider.
func (l *Layer) foundedNote(n Note, verified bool) Note {
	answer := Note{From: l.cfg.ID, To: n.From, State: Founded}
	if verified || l.sharesSeed(n.Cluster) {
		answer.Cluster = l.cfg.Cluster
	}
	return answer
}

// Query queries the member n.To at address, on a separate connection. It returns only that member's answer to this
// query.
func (l *Layer) Query(ctx context.Context, address string, n Note) (Note, error) {
	ctx, cancel := context.WithTimeout(ctx, l.cfg.Timeout)
	defer cancel()
	answer, err := l.query(ctx, address, n)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) { // more useful than the error from the closed connection
		err = fmt.Errorf("no answer within %v", l.cfg.Timeout)
	}
	return answer, err
}

func (l *Layer) query(ctx context.Context, address string, n Note) (Note, error) {
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
	if err := writeNote(c, statusQuery, n); err != nil && !isClosed(err) { // otherwise the answer gives the reason
		return Note{}, err
	}
	status, body, err := readMessage(c)
	switch {
	case isClosed(err):
		return Note{}, l.errClosed()
	case err != nil:
		return Note{}, l.explain(err)
	case status != statusAnswer:
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
