package words

import (
	"fmt"
	"strconv"
	"time"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// HeldText says of a permit that is held for an operator what it does and how it is ended.
func HeldText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s: the permit of %s expired, and its slot is held for an operator: nobody is granted it before gkctl clear %d",
		p.GetSemaphore(), HolderText(p), p.GetToken())
}

// HolderText names the holder of a permit.
func HolderText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("%s in %s (token %d)", p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup(), p.GetToken())
}

// PermitText is who has a permit.
func PermitText(p *gatekeeperv1.Permit) string {
	return fmt.Sprintf("token %d, %s in %s", p.GetToken(), p.GetIdentity().GetAcquirer(), p.GetIdentity().GetGroup())
}

// PermitState says how a permit is, and whether its holder must stop.
func PermitState(p *gatekeeperv1.Permit) string {
	s := Word(p.GetState(), "PERMIT_STATE_")
	if p.GetDrainLeft() != nil {
		s += ", draining for " + Brief(p.GetDrainLeft().AsDuration())
	}
	if cause := Word(p.GetStop(), "STOP_CAUSE_"); cause != "" {
		s += ", stopping: " + cause
		if p.GetStopReason() != "" {
			s += " (" + p.GetStopReason() + ")"
		}
	}
	return s
}

// Holder is the holder of a permit, as -o json has it.
type Holder struct {
	Token    uint64 `json:"token,string"`
	Group    string `json:"group"`
	Acquirer string `json:"acquirer"`
	HolderID string `json:"holder_id,omitempty"`
}

// HolderOf is the holder of a permit.
func HolderOf(p *gatekeeperv1.Permit) Holder {
	id := p.GetIdentity()
	return Holder{Token: p.GetToken(), Group: id.GetGroup(), Acquirer: id.GetAcquirer(), HolderID: id.GetHolderId()}
}

// ProtoSeconds is a duration as protobuf's JSON has it.
func ProtoSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + "s" }

// Firing is a firing as it is written in flags.
func Firing(f *gatekeeperv1.Firing) string {
	if f == nil {
		return ""
	}
	if f.GetDue() == nil {
		return f.GetName()
	}
	return f.GetName() + "@" + f.GetDue().AsTime().Format(time.RFC3339Nano)
}
