package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// api is the connection to the API. Only this file sets the metadata that identifies the caller, so that a client
// cannot add to it with its own headers.
type api struct{ grpc.ClientConnInterface }

type callerKey struct{}

// authorization is the header for bearer tokens, in HTTP and in gRPC.
const authorization = "authorization"

// callerMetadata returns the metadata for the API calls that serve a request. The session's token is used only if the
// request has no authorization header.
func (g *Gateway) callerMetadata(r *http.Request) metadata.MD {
	md := g.cfg.Caller(r)
	credentials := slices.Clone(r.Header.Values("Authorization"))
	if token := g.session(r); token != "" && len(credentials) == 0 {
		credentials = []string{"Bearer " + token}
	}
	for i, text := range credentials {
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			credentials[i] = "unreadable" // gRPC metadata must be ASCII; the API refuses this like any other invalid token
		}
	}
	md.Append(authorization, credentials...)
	return md
}

func (a api) Invoke(ctx context.Context, method string, args, reply any, options ...grpc.CallOption) error {
	ctx, err := outgoing(ctx, args)
	if err != nil {
		return err
	}
	return a.ClientConnInterface.Invoke(ctx, method, args, reply, options...)
}

func (a api) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, options ...grpc.CallOption) (grpc.ClientStream, error) {
	ctx, err := outgoing(ctx, nil)
	if err != nil {
		return nil, err
	}
	return a.ClientConnInterface.NewStream(ctx, desc, method, options...)
}

// outgoing returns the context for a call, after checking that each query parameter is a field of the message.
func outgoing(ctx context.Context, message any) (context.Context, error) {
	if r, ok := ctx.Value(routeKey{}).(*route); ok {
		if m, ok := message.(proto.Message); ok {
			if err := r.checkQuery(m.ProtoReflect().Descriptor()); err != nil {
				return nil, err
			}
		}
	}
	md, _ := ctx.Value(callerKey{}).(metadata.MD)
	return metadata.NewOutgoingContext(ctx, md), nil
}

// checkQuery rejects parameters that are not fields of the message, which the library would ignore.
func (r *route) checkQuery(message protoreflect.MessageDescriptor) error {
	for key, values := range r.query {
		m := message
		for name := range strings.SplitSeq(key, ".") {
			field := findField(m, name)
			if _, inPath := r.path[key]; field == nil || inPath {
				return invalid(key, "is not a parameter of this route, which takes "+parameters(message, r.path))
			}
			m = field.Message()
		}
		if slices.ContainsFunc(values, func(v string) bool { return !utf8.ValidString(v) }) {
			return invalid(key, "must be valid UTF-8")
		}
	}
	return nil
}

// findField returns the field with the given proto or JSON name, or nil.
func findField(m protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if m == nil {
		return nil
	}
	if f := m.Fields().ByName(protoreflect.Name(name)); f != nil {
		return f
	}
	return m.Fields().ByJSONName(name)
}

// parameters lists the fields of a message that may appear in a query.
func parameters(m protoreflect.MessageDescriptor, path map[string]string) string {
	var names []string
	for i := range m.Fields().Len() {
		if name := string(m.Fields().Get(i).Name()); path[name] == "" {
			names = append(names, strconv.Quote(name))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
