package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// marshaler uses protobuf's JSON with the field names from the proto files, as gkctl does.
type marshaler struct{}

func (marshaler) ContentType(any) string { return "application/json" }

func (marshaler) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", v)
	}
	return messageJSON(m)
}

// messageJSON returns a message as JSON, with a trailing newline for terminals.
func messageJSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Compact(&b, data) // protojson's whitespace varies between builds
	b.WriteByte('\n')
	return b.Bytes(), err
}

func (marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		data, err := marshaler{}.Marshal(v)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
}

func (marshaler) Unmarshal(data []byte, v any) error {
	return marshaler{}.NewDecoder(bytes.NewReader(data)).Decode(v)
}

// NewDecoder returns a decoder for a single message. It rejects data after the message, except for SubmitJob, which
// takes a sequence of messages.
func (marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	values := json.NewDecoder(r)
	return runtime.DecoderFunc(func(v any) error {
		m, ok := v.(proto.Message)
		if !ok {
			return fmt.Errorf("%T is not a message", v)
		}
		var value json.RawMessage
		if err := values.Decode(&value); errors.Is(err, io.EOF) {
			return err // an empty body is an empty message
		} else if err != nil {
			return fmt.Errorf("the body is not JSON: %w", err)
		}
		if err := protojson.Unmarshal(value, m); err != nil {
			// The whitespace in the error text varies between builds.
			return fmt.Errorf("the body is not a %s: %s", m.ProtoReflect().Descriptor().Name(), strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: "))
		}
		if b, ok := r.(*body); ok {
			if err := b.checkPath(m); err != nil {
				return err
			}
		}
		if _, more := v.(*gatekeeperv1.SubmitJobRequest); more {
			return nil
		}
		if _, err := values.Token(); !errors.Is(err, io.EOF) {
			return errors.New("the body contains more than one JSON object")
		}
		return nil
	})
}

// body is the body of a request whose path also contains fields of the message.
type body struct {
	io.ReadCloser
	path map[string]string
}

// checkPath returns an error if the message and the path have different values for a field, because one of them must be
// a mistake.
func (b *body) checkPath(m proto.Message) error {
	for key, inPath := range b.path {
		at := m.ProtoReflect()
		names := strings.Split(key, ".")
		for i, name := range names {
			field := findField(at.Descriptor(), name)
			if field == nil || !at.Has(field) {
				break
			}
			if i < len(names)-1 {
				at = at.Get(field).Message()
			} else if text := at.Get(field).String(); text != inPath {
				return fmt.Errorf("the body has %s %q, but the path has %q", key, text, inPath)
			}
		}
	}
	return nil
}
