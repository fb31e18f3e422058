package main

import (
	"fmt"
	"strconv"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// heldText says of a permit that is held for an operator what it does and how it is ended.
func heldText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s: the permit of %s expired, and its slot is held for an operator: nobody is granted it before gkctl clear %d",
		p.GetSemaphore(), holderText(p), p.GetToken())
}

func holderText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s in %s (token %d)", p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), p.GetToken())
}

// permitText is who has a permit.
func permitText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("token %d, %s in %s", p.GetToken(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup())
}

func permitState(p *gatekeeperv1.Permit) string {
	s := word(p.GetState(), "PERMIT_STATE_")
	if p.GetDrainLeft() != nil {
		s += ", draining for " + brief(p.GetDrainLeft().AsDuration())
	}
	if cause := word(p.GetStop(), "STOP_CAUSE_"); cause != "" {
		s += ", stopping: " + cause
		if p.GetStopReason() != "" {
			s += " (" + p.GetStopReason() + ")"
		}
	}
	return s
}

type moveHolder struct {
	Token    uint64 `json:"token,string"`
	Group    string `json:"group"`
	Acquirer string `json:"acquirer"`
	HolderID string `json:"holder_id,omitempty"`
}

func holderOf(p *gatekeeperv1.Permit) moveHolder {
	id := p.GetIdentity()
	return moveHolder{Token: p.GetToken(), Group: id.GetGroup(), Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

// protoSeconds is a duration as protobuf's JSON has it.
func protoSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s" }

// firing is a firing as it is written in flags.
func firing(f *gatekeeperv1.Firing) string {
	if f == nil {
		return ""
	}
	if f.GetDue() == nil {
		return f.GetName()
	}
	return f.GetName() + "@" + f.GetDue().AsTime().Format(time.RFC3339Nano)
}
