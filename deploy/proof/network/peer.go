package network

import (
	"encoding/binary"
	"errors"
	"io"
)

// Peer is the Who of connections between members: the dialing one says its id in the handshake.
func Peer(r io.Reader) (string, []byte, error) {
	const preamble = 8 // a word and a version; then a status byte, and the body's length
	head := make([]byte, preamble+3)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", nil, err
	}
	body := make([]byte, binary.BigEndian.Uint16(head[preamble+1:]))
	if _, err := io.ReadFull(r, body); err != nil {
		return "", nil, err
	}
	// The body's first field is the cluster's id, the second the speaker's.
	_, rest, ok := field(body)
	from, _, ok2 := field(rest)
	if !ok || !ok2 {
		return "", nil, errors.New("network: this is no handshake between members")
	}
	return from, append(head, body...), nil
}

// field cuts a text with two bytes of length off.
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
