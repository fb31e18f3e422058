package api

import (
	"strconv"
	"unicode/utf8"

	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// By default, gRPC returns INTERNAL for a string that is not valid UTF-8, which blames the server and does not name the
// field. To avoid that, messages are received into an inbound, which carries the codec's error past gRPC.

// inbound is a message to receive, and the error from decoding it.
type inbound struct {
	message any
	err     error
}

// codec is gRPC's protobuf codec, except that it stores decoding errors in an inbound.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(encodingproto.Name)} }

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	in, ok := v.(*inbound)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	if size := data.Len(); size > MaxMessage {
		in.err = &tooLargeError{size}
	} else if err := c.CodecV2.Unmarshal(data, in.message); err != nil {
		in.err = explainDecodeError(data.Materialize(), in.message, err)
	}
	return nil
}

// receive receives a message with gRPC's recv function. An error from gRPC itself is returned unchanged.
func receive(recv func(any) error, message any) error {
	in := &inbound{message: message}
	if err := recv(in); err != nil {
		return err
	}
	return in.err
}

// explainDecodeError returns an error that names the first string field with invalid UTF-8, or wraps the codec's error.
func explainDecodeError(data []byte, message any, err error) error {
	if m, ok := message.(proto.Message); ok {
		if field, value := findInvalidUTF8(data, m.ProtoReflect().Descriptor(), ""); field != "" {
			return invalid(field, value, "must be valid UTF-8")
		}
	}
	return &unreadableError{err}
}

// findInvalidUTF8 returns the path and the value of the first string field that is not valid UTF-8. It must cope with
// any input, because it is called for messages that could not be decoded.
func findInvalidUTF8(data []byte, d protoreflect.MessageDescriptor, path string) (field, value string) {
	seen := make(map[protowire.Number]int) // number of elements seen in each repeated field
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return "", ""
		}
		data = data[n:]
		n = protowire.ConsumeFieldValue(number, kind, data)
		if n < 0 {
			return "", ""
		}
		f := d.Fields().ByNumber(number)
		if kind == protowire.BytesType && f != nil {
			content, _ := protowire.ConsumeBytes(data)
			name := path + string(f.Name())
			if f.IsList() {
				name = at(name, seen[number])
				seen[number]++
			}
			switch f.Kind() {
			case protoreflect.StringKind:
				if !utf8.Valid(content) {
					return name, strconv.QuoteToASCII(string(content[:min(len(content), semaphore.MaxShown)]))
				}
			case protoreflect.MessageKind:
				if field, value := findInvalidUTF8(content, f.Message(), name+"."); field != "" {
					return field, value
				}
			default:
			}
		}
		data = data[n:]
	}
	return "", ""
}
