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

// Left to itself gRPC answers a message with a string that is not UTF-8 by INTERNAL, which blames the server, and names
// no field. So what is received passes through an inbound, which carries the codec's error past gRPC.

// inbound is a message to be received, and what was wrong with it.
type inbound struct {
	message any
	err     error
}

// codec is gRPC's own for protobuf, but it reports to an inbound what was wrong.
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
		in.err = explainBytes(data.Materialize(), in.message, err)
	}
	return nil
}

// receive receives a message by the given function of gRPC. What gRPC itself finds wrong it has answered already.
func receive(recv func(any) error, message any) error {
	in := &inbound{message: message}
	if err := recv(in); err != nil {
		return err
	}
	return in.err
}

// explainBytes says why the bytes are not the message: by the first field that is not UTF-8, or as the codec does.
func explainBytes(data []byte, message any, err error) error {
	if m, ok := message.(proto.Message); ok {
		if field, value := notUTF8(data, m.ProtoReflect().Descriptor(), ""); field != "" {
			return invalid(field, value, "must be valid UTF-8")
		}
	}
	return &unreadableError{err}
}

// notUTF8 finds the first string field that is not UTF-8, and names it as in the API. It is for messages that were
// refused: the bytes may be anything.
func notUTF8(data []byte, d protoreflect.MessageDescriptor, path string) (field, value string) {
	seen := make(map[protowire.Number]int) // how many elements of a repeated field were passed
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
				if field, value := notUTF8(content, f.Message(), name+"."); field != "" {
					return field, value
				}
			default:
			}
		}
		data = data[n:]
	}
	return "", ""
}
