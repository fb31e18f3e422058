package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// problem is the body of an error response. Its field names are frozen.
type problem struct {
	// Code is the gRPC code, for example NOT_FOUND. Reason is one of the reasons in docs/api.md.
	Code     string            `json:"code"`
	Message  string            `json:"message"`
	Reason   string            `json:"reason,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Fields   []invalidField    `json:"fields,omitempty"`

	status int
	retry  time.Duration
}

type invalidField struct {
	Field string `json:"field"`
	Rule  string `json:"rule"`
}

// httpError is an error with an HTTP status that has no equivalent in gRPC.
type httpError struct {
	status  int
	code    codes.Code
	message string
}

func (e *httpError) Error() string { return e.message }

// These reasons are the same as in the API.
const (
	reasonInvalidField = "INVALID_FIELD"
	reasonTooLarge     = "TOO_LARGE"
	reasonNotAppended  = "NOT_APPENDED"
)

// invalid returns an error for a field of a request, or for the whole request if field is empty.
func invalid(field, rule string) error {
	text := rule
	if field != "" {
		text = field + " " + rule
	}
	s, err := status.New(codes.InvalidArgument, text).WithDetails(
		&errdetails.ErrorInfo{Reason: reasonInvalidField, Metadata: map[string]string{"field": field, "rule": rule}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: rule, Reason: reasonInvalidField}}},
	)
	if err != nil {
		return status.Error(codes.InvalidArgument, text)
	}
	return s.Err()
}

func newProblem(err error) *problem {
	if e, ok := errors.AsType[*httpError](err); ok {
		return &problem{status: e.status, Code: code.Code(e.code).String(), Message: e.message}
	}
	s := status.Convert(err)
	p := &problem{status: runtime.HTTPStatusFromCode(s.Code()), Code: code.Code(s.Code()).String(), Message: s.Message()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			p.Reason, p.Metadata = d.GetReason(), d.GetMetadata()
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				p.Fields = append(p.Fields, invalidField{v.GetField(), v.GetDescription()})
			}
		case *errdetails.RetryInfo:
			p.retry = d.GetRetryDelay().AsDuration()
		}
	}
	switch {
	case s.Code() == codes.InvalidArgument && p.Reason == "": // the library found an error in a path, a query or a body
		p.Reason = reasonInvalidField
	case s.Code() == codes.FailedPrecondition: // the request is valid, but the state does not allow it
		p.status = http.StatusConflict
	case p.Reason == reasonTooLarge:
		p.status = http.StatusRequestEntityTooLarge
	}
	return p
}

// body returns the problem as JSON, with a trailing newline.
func (p *problem) body() []byte {
	data, _ := json.Marshal(p) // cannot fail, since the fields contain only strings
	return append(data, '\n')
}

func writeError(w http.ResponseWriter, err error) {
	p := newProblem(err)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if p.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if p.retry > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((p.retry+time.Second-1)/time.Second), 10))
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body())
}

func handleError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, _ *http.Request, err error) {
	writeError(w, err)
}

func handleNoRoute(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, _ int) {
	writeError(w, noRoute(r))
}

func noRoute(r *http.Request) error {
	return &httpError{http.StatusNotFound, codes.NotFound, "no route for " + r.Method + " " + r.URL.Path + ": GET /v1/openapi.json lists the API's routes"}
}
