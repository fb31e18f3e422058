package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

const (
	// heartbeat is the interval between comments on an idle stream, which keep proxies from closing it.
	heartbeat = 15 * time.Second
	// retry is how long a browser waits before it reconnects.
	retry = time.Second
)

// streamRoute is a route that responds with Server-Sent Events.
type streamRoute struct {
	verb, pattern, method string
	request, message      func() proto.Message
	// resume changes the request so that the stream starts after the event with the given id. If it is nil, events have
	// no positions, and a resumed stream starts over.
	resume func(request proto.Message, id string) error
	// kind returns the type of an event. position returns its id, or "" if it has none. position may be nil.
	kind     func(message proto.Message) string
	position func(request, message proto.Message) string
}

// streamRoutes returns the streaming routes in proto/http.yaml. They take precedence over the generated ones, which
// would respond with JSON objects.
func streamRoutes() []streamRoute {
	plain := func(proto.Message) string { return "message" }
	return []streamRoute{
		{
			verb: http.MethodGet, pattern: "/v1/watch", method: gatekeeperv1.WatchService_Watch_FullMethodName,
			request: func() proto.Message { return new(gatekeeperv1.WatchRequest) },
			message: func() proto.Message { return new(gatekeeperv1.WatchResponse) },
			resume: func(request proto.Message, id string) error {
				revision, err := parseRevision(id)
				request.(*gatekeeperv1.WatchRequest).FromRevision = revision + 1
				return err
			},
			kind: func(message proto.Message) string {
				switch m := message.(*gatekeeperv1.WatchResponse); {
				case m.GetMissed():
					return "missed"
				case m.GetLive() != nil:
					return "live"
				}
				return "message"
			},
			position: func(_, message proto.Message) string {
				return strconv.FormatUint(message.(*gatekeeperv1.WatchResponse).GetRevision(), 10)
			},
		},
		{
			verb: http.MethodGet, pattern: "/v1/jobs/{id}:follow", method: gatekeeperv1.WorkService_FollowJob_FullMethodName,
			request: func() proto.Message { return new(gatekeeperv1.FollowJobRequest) },
			message: func() proto.Message { return new(gatekeeperv1.FollowJobResponse) },
			resume: func(request proto.Message, id string) (err error) {
				request.(*gatekeeperv1.FollowJobRequest).AfterRevision, err = parseRevision(id)
				return err
			},
			kind: plain,
			position: func(_, message proto.Message) string { // if there is more than one message, the first has no revision
				if revision := message.(*gatekeeperv1.FollowJobResponse).GetRevision(); revision > 0 {
					return strconv.FormatUint(revision, 10)
				}
				return ""
			},
		},
		{
			verb: http.MethodGet, pattern: "/v1/firings:await", method: gatekeeperv1.PermitService_AwaitFiring_FullMethodName,
			request: func() proto.Message { return new(gatekeeperv1.AwaitFiringRequest) },
			message: func() proto.Message { return new(gatekeeperv1.AwaitFiringResponse) },
			kind:    plain, // each message contains the whole state of the firing, so starting over loses nothing
		},
		{
			verb: http.MethodPost, pattern: "/v1/semaphores/{semaphore}:acquire", method: gatekeeperv1.PermitService_Acquire_FullMethodName,
			request: func() proto.Message { return new(gatekeeperv1.AcquireRequest) },
			message: func() proto.Message { return new(gatekeeperv1.AcquireResponse) },
			kind:    plain, // a retry with the same request_id returns the same permit
			position: func(request, _ proto.Message) string {
				return request.(*gatekeeperv1.AcquireRequest).GetRequestId()
			},
		},
	}
}

func parseRevision(id string) (uint64, error) {
	revision, err := strconv.ParseUint(id, 10, 63)
	if err != nil {
		return 0, invalid("Last-Event-ID", "must be the id of an event in this stream, not "+strconv.Quote(id))
	}
	return revision, nil
}

// serve responds with events until the stream ends or the client disconnects. An error before the first message is
// returned as on any other route.
func (s *streamRoute) serve(g *Gateway) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, path map[string]string) {
		request, err := s.read(r, path)
		if err != nil {
			writeError(w, err)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		stream, err := g.api.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, s.method)
		if err != nil {
			writeError(w, err)
			return
		}
		if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) { // on EOF, RecvMsg returns the error
			writeError(w, err)
			return
		}
		_ = stream.CloseSend() // always returns nil
		s.relay(ctx, w, request, s.receive(ctx, stream))
	}
}

// read parses a stream's request.
func (s *streamRoute) read(r *http.Request, path map[string]string) (proto.Message, error) {
	request := s.request()
	if hasBody(r) {
		if err := (marshaler{}).NewDecoder(r.Body).Decode(request); err != nil && !errors.Is(err, io.EOF) {
			return nil, invalid("", err.Error())
		}
	} else {
		params, _ := r.Context().Value(routeKey{}).(*route)
		if err := params.checkQuery(request.ProtoReflect().Descriptor()); err != nil {
			return nil, err
		}
		if err := runtime.PopulateQueryParameters(request, params.query, utilities.NewDoubleArray(nil)); err != nil {
			return nil, invalid("", err.Error())
		}
	}
	for name, value := range path {
		if err := runtime.PopulateFieldFromPath(request, name, value); err != nil {
			return nil, invalid(name, err.Error())
		}
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" && s.resume != nil {
		return request, s.resume(request, id)
	}
	return request, nil
}

// received is a message from a stream, or the error that ended the stream.
type received struct {
	message proto.Message
	err     error
}

// receive receives messages until the stream or ctx ends.
func (s *streamRoute) receive(ctx context.Context, stream grpc.ClientStream) <-chan received {
	all := make(chan received)
	go func() {
		for {
			m := s.message()
			err := stream.RecvMsg(m)
			select {
			case all <- received{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return all
}

// relay forwards the received messages and sends comments while there are none.
func (s *streamRoute) relay(ctx context.Context, w http.ResponseWriter, request proto.Message, all <-chan received) {
	control := http.NewResponseController(w)
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for started := false; ; {
		var out bytes.Buffer
		var next received
		select {
		case next = <-all:
		case <-ticker.C:
			if !started {
				continue
			}
			out.WriteString(":\n\n")
		case <-ctx.Done(): // the client has disconnected
			return
		}
		if next.err != nil && !started && !errors.Is(next.err, io.EOF) {
			writeError(w, next.err)
			return
		}
		if !started {
			started = true
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("X-Accel-Buffering", "no") // keep nginx from buffering events
			fmt.Fprintf(&out, "retry: %d\n\n", retry.Milliseconds())
		}
		if next.message != nil {
			s.event(&out, request, next)
		}
		_, _ = w.Write(out.Bytes())
		if control.Flush() != nil || next.err != nil {
			return
		}
	}
}

// event writes one event.
func (s *streamRoute) event(out *bytes.Buffer, request proto.Message, next received) {
	kind, id := "", ""
	var data []byte
	switch {
	case errors.Is(next.err, io.EOF):
		kind, data = "end", []byte("{}\n")
	case next.err != nil:
		kind, data = "error", newProblem(next.err).body()
	default:
		kind = s.kind(next.message)
		if s.position != nil {
			id = s.position(request, next.message)
		}
		var err error
		if data, err = messageJSON(next.message); err != nil {
			kind, id, data = "error", "", newProblem(err).body()
		}
	}
	// A newline in an id that the caller chose could add fields and events to the stream. Browsers ignore an id with a
	// zero byte.
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		fmt.Fprintf(out, "id: %s\n", id)
	}
	fmt.Fprintf(out, "event: %s\ndata: %s\n", kind, data) // the data ends with a newline
}
