package api

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
)

// CatchUp returns the missed firings that should still run, as decided by semaphore.Misfires. Like a claim, it confirms
// leadership: with a stale state, it could return firings that have already run.
func (s *permitService) CatchUp(ctx context.Context, m *gatekeeperv1.CatchUpRequest) (*gatekeeperv1.CatchUpResponse, error) {
	if err := semaphore.ValidSemaphoreName(m.GetSemaphore()); err != nil {
		return nil, err
	}
	identity := identityFrom(m.GetIdentity())
	if err := identity.Validate(); err != nil {
		return nil, err
	}
	due, err := missedFrom(m)
	if err != nil {
		return nil, err
	}
	state, err := s.reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	name := m.GetSemaphore()
	out := &gatekeeperv1.CatchUpResponse{Revision: state.Revision()}
	sd := state.Definition(name)
	if sd == nil || !s.visible(ctx, state, name) || !s.reader.Match(sd.Definition.GroupPattern, identity.Group) || !s.reader.Match(sd.Definition.AcquirerPattern, identity.Acquirer) {
		return out, nil
	}
	misfires := semaphore.Misfires{
		Definition: sd.Definition, From: sd.MisfiresFrom, LowWater: state.LowWater(name), Now: s.keeper.WallClock(),
		Claim: func(f semaphore.Firing) *semaphore.Claim { return state.Claim(name, f) },
	}
	since, ok := misfires.Since()
	if !ok {
		return out, nil
	}
	out.Since = timestamppb.New(since)
	out.Run = mapSlice(misfires.Missed(m.GetName(), due), timestamppb.New)
	return out, nil
}

// missedFrom reads the due times in a CatchUpRequest.
func missedFrom(m *gatekeeperv1.CatchUpRequest) (due []time.Time, err error) {
	if err := semaphore.ValidName("name", m.GetName()); err != nil {
		return nil, err
	}
	if n := len(m.GetDue()); n > semaphore.MaxMissed {
		return nil, invalid("due", strconv.Itoa(n)+" due times", "must be at most "+strconv.Itoa(semaphore.MaxMissed)+" due times: send only the newest ones")
	}
	for i, t := range m.GetDue() {
		when, err := timestampFrom("due", t)
		if err == nil {
			err = (&semaphore.Firing{Name: m.GetName(), Due: when}).Validate()
		}
		if err == nil && i > 0 && !when.After(due[i-1]) {
			err = invalid("due", when.Format(time.RFC3339Nano), "must be later than the previous due time")
		}
		if err != nil {
			return nil, withField(at("due", i), err)
		}
		due = append(due, when)
	}
	return due, nil
}
