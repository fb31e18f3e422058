package network

import (
	"encoding/binary"
	"errors"
	"io"
)

// Peer identifies the member that dialed a connection between members. It reads the member's id from the handshake, and
// returns it with the bytes it read.
func Peer(r io.Reader) (string, []byte, error) {
	const preamble = 8 // a magic string and a version, followed by a status byte and the body's length
	head := make([]byte, preamble+3)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", nil, err
	}
	body := make([]byte, binary.BigEndian.Uint16(head[preamble+1:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return "", nil, err
	}
	// The body's first field is the cluster's id, and the second is the member's id.
	_, rest, ok := field(body)
	from, _, ok2 := field(rest)
	if !ok || !ok2 {
		return "", nil, errors.New("not a handshake between members")
	}
	return from, append(head, body...), nil
}

// field splits off a string prefixed with its two-byte length.
func field(body []byte) (text string, rest []byte, ok bool) {
	if len(body) < 2 {
		return "", nil, false
	}
	n := int(binary.BigEndian.Uint16(body))
	if body = body[2:]; len(body) < n {
		return "", nil, false
	}
	return string(body[:n]), body[n:], true
}
