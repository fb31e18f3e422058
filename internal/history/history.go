// Package history records what was observed during a run: each call and each response with its time on one monotonic
// clock, the holders' beliefs, the faults injected into the cluster, and the state that each member reported. A history
// is stored as JSON, one entry per line, so that a failed run can be checked again.
//
// Callers write the history. It does not include records kept by servers.
package history

import "time"

// Entry is one line of a history. Exactly one of its fields is set.
type Entry struct {
	Call       *Call       `json:"call,omitempty"`
	Return     *Return     `json:"return,omitempty"`
	Belief     *Belief     `json:"belief,omitempty"`
	Death      *Death      `json:"death,omitempty"`
	Fault      *Fault      `json:"fault,omitempty"`
	State      *State      `json:"state,omitempty"`
	HandedTask *HandedTask `json:"handed,omitempty"`
}

// Call is a request. It is recorded before it is sent.
type Call struct {
	// Client and Seq together identify the call.
	Client  string        `json:"client"`
	Seq     int64         `json:"seq"`
	At      time.Duration `json:"at"`
	Request Request       `json:"request"`
}

// Return is the response to a call. It is recorded after it arrives. A call without a Return has an unknown effect,
// like a call whose Outcome is Unknown.
type Return struct {
	Client   string        `json:"client"`
	Seq      int64         `json:"seq"`
	At       time.Duration `json:"at"`
	Outcome  Outcome       `json:"outcome"`
	Response Response      `json:"response"`
	// Error is the error's text, for messages.
	Error string `json:"error,omitempty"`
}

// Belief means that a client believed that it held a permit from From up to, but not including, Until. A later entry
// for the same client and token replaces an earlier one. A client that may be killed therefore records its belief
// repeatedly.
type Belief struct {
	Client    string        `json:"client"`
	Semaphore string        `json:"semaphore"`
	Token     uint64        `json:"token"`
	Weight    uint32        `json:"weight"`
	From      time.Duration `json:"from"`
	Until     time.Duration `json:"until"`
	// ReliedUntil is the time until which the client relies on the permit, even if its belief ends earlier, for example
	// because of a release. A permit does not expire before that time. An entry with this field replaces all earlier
	// values, including the one from the response that granted the permit, because a refresh may set a shorter
	// duration. Without such an entry, Gather sets it to the latest Until of all entries.
	ReliedUntil time.Duration `json:"counted,omitempty"`
	// ReliedExplicitly reports whether the client recorded ReliedUntil explicitly. Gather sets it.
	ReliedExplicitly bool `json:"-"`
}

// Death records that a client died. The client has no beliefs after At.
type Death struct {
	Client string        `json:"client"`
	At     time.Duration `json:"at"`
}

// Fault is an action on a server, a client or the network. No checker depends on it.
type Fault struct {
	At   time.Duration `json:"at"`
	Kind string        `json:"kind"`
	On   string        `json:"on,omitempty"`
}

// State is the replicated state of a member as the member reported it.
type State struct {
	Member string `json:"member"`
	Index  uint64 `json:"index"`
	Hash   string `json:"hash"`
}

// Outcome says what the caller knows about the effect of a call.
type Outcome string

const (
	// Known means that the caller got a response that shows the effect; see Response.
	Known Outcome = "known"
	// Refused means that the call failed with an error that guarantees that nothing changed.
	Refused Outcome = "refused"
	// Unknown means that the call may have taken effect, may still take effect, or may never do so.
	Unknown Outcome = "unknown"
)

// Operation is a call with its response.
type Operation struct {
	Call
	// Return is nil if the caller never got a response.
	Return *Return
}

// Outcome returns the outcome of the call, which is Unknown if there was no response.
func (o *Operation) Outcome() Outcome {
	if o.Return == nil {
		return Unknown
	}
	return o.Return.Outcome
}

// Response returns the response to a call whose outcome is known.
func (o *Operation) Response() (Response, bool) {
	if o.Outcome() != Known {
		return Response{}, false
	}
	return o.Return.Response, true
}

// History is the record of a run.
type History struct {
	// Operations are sorted by the time of their calls.
	Operations []Operation
	// Beliefs contains one entry for each client and token. A client's beliefs end no later than its death.
	Beliefs []Belief
	Faults  []Fault
	States  []State
	// HandedTasks is sorted by time.
	HandedTasks []HandedTask
}
