package api

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	spb "google.golang.org/genproto/googleapis/rpc/status"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxAnswerBytes is about where a frame of answers ends. It is less than what gRPC's clients accept unless told otherwise.
const maxAnswerBytes = 1 << 20

// outbox is what is to be sent.
type outbox struct {
	answers []*gatekeeperv1.NumberedAnswer
	hellos  int // empty frames that are to be answered
	sending bool
}

// hello answers an empty frame.
func (m *multiplex) hello() {
	m.mu.Lock()
	m.answers.hellos++
	m.flush()
}

// reply sends answers, or leaves them to whoever is sending. The caller is counted in m.work.
func (m *multiplex) reply(answers ...*gatekeeperv1.NumberedAnswer) {
	m.mu.Lock()
	for _, a := range answers {
		delete(m.calls, a.GetNumber())
	}
	m.answers.answers = append(m.answers.answers, answers...)
	m.flush()
}

// flush sends until there is nothing to be sent, unless somebody does. The caller holds mu, which is unlocked.
func (m *multiplex) flush() {
	out := &m.answers
	if out.sending {
		m.mu.Unlock()
		return
	}
	out.sending = true
	for len(out.answers) > 0 || out.hellos > 0 {
		answers, hellos := out.answers, out.hellos
		out.answers, out.hellos = nil, 0
		m.mu.Unlock()
		for ; hellos > 0; hellos-- {
			m.frame(nil)
		}
		for sent := 0; sent < len(answers); {
			n := fitting(answers[sent:])
			m.frame(answers[sent : sent+n])
			sent += n
		}
		m.mu.Lock()
		m.held -= len(answers)
		m.freed.Broadcast()
	}
	out.sending = false
	m.mu.Unlock()
}

// frame sends one frame. A stream that takes no more has lost its client: the calls that are in work end with it.
func (m *multiplex) frame(answers []*gatekeeperv1.NumberedAnswer) {
	if m.ctx.Err() != nil {
		return
	}
	if err := m.send(&gatekeeperv1.MultiplexResponse{Answers: answers}); err != nil {
		m.give()
	}
}

// fitting is how many answers go into one frame, at least one.
func fitting(answers []*gatekeeperv1.NumberedAnswer) int {
	size := 0
	for i, a := range answers {
		size += weight(a)
		if i > 0 && (size > maxAnswerBytes || i == maxCalls) {
			return i
		}
	}
	return len(answers)
}

// weight is about how many bytes an answer takes, from above.
func weight(a *gatekeeperv1.NumberedAnswer) int {
	const plain = 256 // numbers, times, and what stands around them
	switch answer := a.GetAnswer().(type) {
	case *gatekeeperv1.NumberedAnswer_TryAcquire:
		d := answer.TryAcquire.GetDenial()
		size := plain + weightOf(answer.TryAcquire.GetGrant().GetPermit()) + len(d.GetMessage()) + len(d.GetPause().GetReason())
		for _, p := range d.GetHolders() {
			size += weightOf(p)
		}
		return size
	case *gatekeeperv1.NumberedAnswer_Refresh:
		size := plain
		for _, r := range answer.Refresh.GetResults() {
			size += plain/4 + len(r.GetMessage())
		}
		return size
	case *gatekeeperv1.NumberedAnswer_Error:
		size := plain + len(answer.Error.GetMessage())
		for _, d := range answer.Error.GetDetails() {
			size += plain/4 + len(d.GetValue())
		}
		return size
	}
	return plain
}

func weightOf(p *gatekeeperv1.Permit) int {
	const plain = 128
	id := p.GetIdentity()
	size := plain + len(p.GetSemaphore()) + len(id.GetGroup()) + len(id.GetAcquirer()) + len(id.GetHolderId()) + len(p.GetFiring().GetName()) + len(p.GetStopReason())
	for k, v := range p.GetMetadata() {
		size += len(k) + len(v) + 8
	}
	return size
}

// toCallError writes a status.
func toCallError(err error) *gatekeeperv1.CallError {
	s := status.Convert(err).Proto()
	return &gatekeeperv1.CallError{Code: s.GetCode(), Message: s.GetMessage(), Details: s.GetDetails()}
}

// statusFrom reads a status that another member has written.
func statusFrom(e *gatekeeperv1.CallError) *status.Status {
	if e.GetCode() == int32(codes.OK) {
		return status.New(codes.Unknown, "an error without a code: "+e.GetMessage())
	}
	return status.FromProto(&spb.Status{Code: e.GetCode(), Message: e.GetMessage(), Details: e.GetDetails()})
}

// unknownCall answers a call that was invented after this server.
func unknownCall() error {
	return status.Error(codes.Unimplemented, "this server does not know what is called: it is older than its caller")
}
