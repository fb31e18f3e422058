package semaphore

// A Step is one step of a decision in human-readable form.
type Step struct {
	// Number is the step's number in the decision, 1 to 9.
	Number int
	// Name says what the step checks.
	Name string
	// Passed reports whether the step passed the request to the next step, or granted it.
	Passed bool
	// Text says what the step compared or, if it reached a decision, why.
	Text string
}

// Explain returns the steps of a decision up to the one that decided. The last step states the result of Decide, and
// passes unless the request is denied. If there is no room, steps 8 and 9 are both returned, and neither passes.
func Explain(req *Request, f *Facts) []Step {
	steps := make([]Step, 0, stepFull)
	for s := stepDefined; s <= stepFull; s++ {
		d := s.decide(req, f)
		steps = append(steps, Step{
			Number: int(s),
			Name:   s.String(),
			Passed: d.Outcome != Denied && (d.Outcome != 0 || s != stepFree),
			Text:   s.text(d, req, f),
		})
		if d.Outcome != 0 {
			break
		}
	}
	return steps
}

// String returns the name of the step.
func (s step) String() string {
	switch s {
	case stepDefined:
		return "semaphore"
	case stepGroup:
		return "group"
	case stepAcquirer:
		return "acquirer"
	case stepOpen:
		return "cordon or stop"
	case stepOwn:
		return "own permit"
	case stepPaused:
		return "pause and weight"
	case stepFiring:
		return "firing"
	case stepFree:
		return "room"
	case stepFull:
		return "no room"
	}
	return unknown("step ", uint8(s))
}

// text returns the decision's sentence if the step decided. Otherwise it returns a sentence that says what the step
// compared.
func (s step) text(d Decision, req *Request, f *Facts) string {
	if d.Outcome != 0 {
		return d.Sentence(req, f)
	}
	switch s {
	case stepDefined:
		return "There is a " + semaphoreName(req) + "."
	case stepGroup:
		return "Group " + quote(req.Identity.Group) + " matches the group pattern " + quote(f.Definition.GroupPattern) + "."
	case stepAcquirer:
		return "Acquirer " + quote(req.Identity.Acquirer) + " matches the acquirer pattern " + quote(f.Definition.AcquirerPattern) + "."
	case stepOpen:
		return "No cordon applies to the caller, and no pause requires holders to stop."
	case stepOwn:
		if req.Worker {
			return "A worker may hold several permits, one per task."
		}
		return "The caller does not already hold a permit."
	case stepPaused:
		return "The semaphore is not paused, and weight " + count(uint64(req.Weight)) + " is within its " + permitCount(uint64(f.Definition.Permits)) + "."
	case stepFiring:
		switch {
		case req.Worker:
			return waitingTasks(f.Tasks)
		case req.Firing == nil:
			return "The request has no firing."
		}
		return "Firing " + req.Firing.text() + " is not claimed."
	case stepFree:
		return compareRoom(req, f)
	case stepFull: // always decides
	}
	return noRoom(req, f) + "."
}

// compareRoom describes the comparison that found no room. The next step states why the request is denied.
func compareRoom(req *Request, f *Facts) string {
	s := inUse(f.Used, uint64(f.Definition.Permits)) + ", so a request of weight " + count(uint64(req.Weight))
	if f.Used+uint64(req.Weight) > uint64(f.Definition.Permits) {
		return s + " does not fit."
	}
	return s + " would fit, but other callers are ahead in the queue."
}

// inUse describes how many of a semaphore's permits are in use.
func inUse(used, all uint64) string {
	switch {
	case used > all:
		return "The semaphore has " + permitCount(all) + ", but weight " + count(used) + " is in use"
	case used == 0:
		return "No permits are in use"
	case used == 1 && all == 1:
		return "The semaphore's only permit is in use"
	case used == 1:
		return "1 of " + permitCount(all) + " is in use"
	}
	return count(used) + " of " + permitCount(all) + " are in use"
}

func waitingTasks(n uint64) string {
	if n == 1 {
		return "1 task is waiting for a worker."
	}
	return count(n) + " tasks are waiting for a worker."
}
