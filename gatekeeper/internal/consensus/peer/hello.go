package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// preamble opens each direction of a connection: a magic string and the handshake version. It is frozen. A different
// handshake format requires a new version. A message consists of the preamble, a status byte, a two-byte length, and a
// body. The body of a welcome is a hello, and that of a query or an answer is a note. The body of a refusal, with any
// of its three statuses, is the reason as text, or empty for an outsider. The dialing side sends first, with
// statusWelcome or statusQuery.
//
// The fields of a hello are strings, each preceded by a two-byte length. New fields are added at the end. A reader
// skips fields that it does not recognize and treats missing ones as empty.
const preamble = "gkpeer\x00\x01"

const (
	statusWelcome byte = 0
	statusRefused byte = 1
	statusRemoved byte = 2
	// statusEarlier means that the refused peer belongs to an earlier incarnation of the same cluster, which has since
	// been recovered or restored.
	statusEarlier byte = 3
	// statusQuery and statusAnswer mean that the body is a note; see Note.
	statusQuery  byte = 4
	statusAnswer byte = 5
)

// maxBody limits how much an outsider can make this side read.
const maxBody = 4096

// hello is what each side reports about itself in the handshake.
type hello struct {
	Cluster string // the cluster id
	From    string // the sender's member id
	To      string // the member id of the intended peer
	API     string // the sender's API address
	DataDir string // the number generated when the sender's data directory was created
	// Level is the newest feature level that the sender supports, in decimal. A sender that omits it supports 1.
	Level string
	// Clock is the sender's wall clock at the time of sending, in nanoseconds since 1970, in decimal. Older versions do
	// not send it.
	Clock string
}

// errNotPeer means that the other side does not speak this protocol.
var errNotPeer = errors.New("peer: not a Gatekeeper peer with a compatible version")

// ErrRemoved, returned by Config.CheckPeer, tells the refused peer that it was permanently removed from the cluster.
var ErrRemoved = errors.New("it was removed from the cluster, and its id cannot be reused")

// Limits on what a peer may report about itself, so that it can be stored and logged.
const (
	maxID      = 64 // also for cluster ids and directory numbers
	maxAddress = 512
)

// earlierError refuses a peer that belongs to an earlier incarnation of this cluster.
type earlierError struct{ reason string }

func (e *earlierError) Error() string { return e.reason }

// RefusedError is the refusal that the other side sent before it closed a connection.
type RefusedError struct {
	// Reason is empty if the other side considers this one an outsider, because outsiders receive no reason.
	Reason string
	// Removed means that this member has definitely been removed from the cluster.
	Removed bool
	// Earlier means that the other side belongs to a later incarnation of the cluster, which was recovered or restored
	// without this member.
	Earlier bool
}

func (e *RefusedError) Error() string {
	if e.Reason == "" {
		return "peer: refused without a reason (unknown peers are never given one): the server at that address probably belongs to a different cluster; see its log for the reason"
	}
	return "peer: refused: " + e.Reason
}

func writeHello(w io.Writer, h hello) error {
	return writeMessage(w, statusWelcome, encodeFields(h.Cluster, h.From, h.To, h.API, h.DataDir, h.Level, h.Clock))
}

// encodeFields encodes fields as a body.
func encodeFields(fields ...string) (body []byte) {
	for _, s := range fields {
		body = binary.BigEndian.AppendUint16(body, uint16(len(s)))
		body = append(body, s...)
	}
	return body
}

func writeRefusal(w io.Writer, why error) error {
	status := statusRefused
	if errors.Is(why, ErrRemoved) {
		status = statusRemoved
	} else if _, ok := errors.AsType[*earlierError](why); ok {
		status = statusEarlier
	}
	return writeMessage(w, status, []byte(why.Error()))
}

// writeEmptyRefusal refuses an outsider without giving a reason.
func writeEmptyRefusal(w io.Writer) error { return writeMessage(w, statusRefused, nil) }

func writeMessage(w io.Writer, status byte, body []byte) error {
	if len(body) > maxBody {
		return fmt.Errorf("peer: a handshake of %d bytes exceeds the limit of %d", len(body), maxBody)
	}
	msg := append([]byte(preamble), status)
	msg = binary.BigEndian.AppendUint16(msg, uint16(len(body)))
	_, err := w.Write(append(msg, body...))
	return err
}

// readMessage reads exactly one message, not a byte more. It returns a *RefusedError for a refusal.
func readMessage(r io.Reader) (status byte, body []byte, err error) {
	var head [len(preamble) + 3]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint16(head[len(preamble)+1:])
	if string(head[:len(preamble)]) != preamble || length > maxBody {
		return 0, nil, errNotPeer
	}
	body = make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	switch status = head[len(preamble)]; status {
	case statusRefused, statusRemoved, statusEarlier:
		refused := &RefusedError{Removed: status == statusRemoved, Earlier: status == statusEarlier}
		if len(body) > 0 {
			refused.Reason = fmt.Sprintf("%q", body)
		}
		return 0, nil, refused
	}
	return status, body, nil
}

// readHello reads a message that must be a hello or a refusal.
func readHello(r io.Reader) (hello, error) {
	status, body, err := readMessage(r)
	if err != nil {
		return hello{}, err
	}
	if status != statusWelcome {
		return hello{}, errNotPeer
	}
	return parseHello(body)
}

func parseHello(body []byte) (hello, error) {
	var h hello
	required := []*string{&h.Cluster, &h.From, &h.To, &h.API, &h.DataDir}
	if err := parseFields(body, required, &h.Level, &h.Clock); err != nil {
		return hello{}, err
	}
	if len(h.API) > maxAddress || tooLong(h.Cluster, h.From, h.To, h.DataDir, h.Level, h.Clock) {
		return hello{}, errNotPeer
	}
	return h, nil
}

// parseFields parses a body's fields. Every version sends the required fields. The optional ones were added later.
func parseFields(body []byte, required []*string, optional ...*string) error {
	fields := append(slices.Clip(required), optional...)
	for i := 0; len(body) > 0 || i < len(required); i++ {
		if len(body) < 2 {
			return errNotPeer
		}
		n := int(binary.BigEndian.Uint16(body))
		if body = body[2:]; len(body) < n {
			return errNotPeer
		}
		if i < len(fields) {
			*fields[i] = string(body[:n])
		}
		body = body[n:]
	}
	return nil
}

func tooLong(ids ...string) bool {
	return slices.ContainsFunc(ids, func(s string) bool { return len(s) > maxID })
}

// level returns the newest feature level that the sender supports.
func (h *hello) level() uint32 {
	n, err := strconv.ParseUint(h.Level, 10, 32)
	if err != nil || n == 0 {
		return 1
	}
	return uint32(n)
}

// ahead returns how far the sender's clock is ahead of this side's, or nil if the sender did not report its clock. The
// sender responded between sentAt and sentAt+took according to this side's clock, so the result is accurate to within
// half of took.
func (h *hello) ahead(sentAt time.Time, took time.Duration) *time.Duration {
	n, err := strconv.ParseInt(h.Clock, 10, 64)
	if err != nil {
		return nil
	}
	ahead := time.Unix(0, n).Sub(sentAt.Add(took / 2))
	return &ahead
}
