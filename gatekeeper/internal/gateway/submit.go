package gateway

import (
	"errors"
	"io"
	"net/http"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// submitJob sends a body's messages one after another on a SubmitJob stream. It takes precedence over the generated
// route, which would start the stream before parsing all messages.
func (g *Gateway) submitJob(w http.ResponseWriter, r *http.Request, _ map[string]string) {
	var all []*gatekeeperv1.SubmitJobRequest
	for body := (marshaler{}).NewDecoder(r.Body); ; {
		m := new(gatekeeperv1.SubmitJobRequest)
		err := body.Decode(m)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			writeError(w, invalid("", err.Error()))
			return
		}
		all = append(all, m)
	}
	resp, err := g.submit(r, all)
	if err != nil {
		writeError(w, err)
		return
	}
	data, err := messageJSON(resp)
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data)
}

func (g *Gateway) submit(r *http.Request, all []*gatekeeperv1.SubmitJobRequest) (*gatekeeperv1.SubmitJobResponse, error) {
	stream, err := gatekeeperv1.NewWorkServiceClient(g.api).SubmitJob(r.Context())
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if stream.Send(m) != nil {
			break // CloseAndRecv returns the error
		}
	}
	return stream.CloseAndRecv()
}
