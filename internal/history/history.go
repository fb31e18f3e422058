// Package history is what was seen of a run: each call and each answer with the time of one clock that nobody can set,
// what holders believed, what was done to the cluster, and what each member said its state was. It is written as lines
// of JSON, so that a run that went wrong can be checked again.
//
// It is written by the callers themselves and knows nothing that a server only claims about others.
package history

import "time"

// Entry is one line of a history. Exactly one of its fields is set.
type Entry struct {
	Call   *Call   `json:"call,omitempty"`
	Return *Return `json:"return,omitempty"`
	Belief *Belief `json:"belief,omitempty"`
	Death  *Death  `json:"death,omitempty"`
	Fault  *Fault  `json:"fault,omitempty"`
	State  *State  `json:"state,omitempty"`
	Handed *Handed `json:"handed,omitempty"`
}

// Call is a request, noted before it is sent.
type Call struct {
	// Client and Seq together name the call.
	Client  string        `json:"client"`
	Seq     int64         `json:"seq"`
	At      time.Duration `json:"at"`
	Request Request       `json:"request"`
}

// Return is the answer to a call, noted after it has arrived. A call without one is as unknown as one whose Outcome is
// Unknown.
type Return struct {
	Client   string        `json:"client"`
	Seq      int64         `json:"seq"`
	At       time.Duration `json:"at"`
	Outcome  Outcome       `json:"outcome"`
	Response Response      `json:"response"`
	// Error is the error's text, for people.
	Error string `json:"error,omitempty"`
}

// Belief says that a client believed from From until Until that it held a permit; Until itself is not part of it. A
// later line of the same client and token replaces an earlier one: a client that can be killed says again and again
// what it believes.
type Belief struct {
	Client    string        `json:"client"`
	Semaphore string        `json:"semaphore"`
	Token     uint64        `json:"token"`
	Weight    uint32        `json:"weight"`
	From      time.Duration `json:"from"`
	Until     time.Duration `json:"until"`
	// Counted is how far the client counts on the permit although its belief may end earlier, by a release say: a
	// permit does not expire before that. A line that says it replaces what was said before, also the answer that
	// granted it: a refresh may bring a shorter duration. Without such a line it is the latest Until of all lines;
	// Gather finds it.
	Counted time.Duration `json:"counted,omitempty"`
	// Said reports whether the client has said Counted itself. Gather finds it.
	Said bool `json:"-"`
}

// Death is the end of a client: from At on it believes nothing.
type Death struct {
	Client string        `json:"client"`
	At     time.Duration `json:"at"`
}

// Fault is something that was done to a server, a client or the network. No checker depends on it.
type Fault struct {
	At   time.Duration `json:"at"`
	Kind string        `json:"kind"`
	On   string        `json:"on,omitempty"`
}

// State is what a member said about its replicated state.
type State struct {
	Member string `json:"member"`
	Index  uint64 `json:"index"`
	Hash   string `json:"hash"`
}

// Outcome is what a caller knows when a call is over.
type Outcome string

const (
	// Known: there is an answer, in Response.
	Known Outcome = "known"
	// Refused: an error which says that nothing was changed.
	Refused Outcome = "refused"
	// Unknown: it may have happened, may still happen, or may never.
	Unknown Outcome = "unknown"
)

// Operation is a call with its answer.
type Operation struct {
	Call
	// Return is nil when the caller never learnt anything.
	Return *Return
}

// Outcome is Unknown when there is no answer.
func (o *Operation) Outcome() Outcome {
	if o.Return == nil {
		return Unknown
	}
	return o.Return.Outcome
}

// Answer is the response of a call that was answered.
func (o *Operation) Answer() (Response, bool) {
	if o.Outcome() != Known {
		return Response{}, false
	}
	return o.Return.Response, true
}

// History is a run.
type History struct {
	// Operations are in the order of their calls.
	Operations []Operation
	// Beliefs are one for each client and token, and have ended with their client.
	Beliefs []Belief
	Faults  []Fault
	States  []State
	// Handed are in the order of their times.
	Handed []Handed
}
