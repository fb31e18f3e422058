package preview

import (
	"fmt"

	"github.com/gatekeeperd/gatekeeper/fsm"
)

// ConfirmSettings returns the reasons why an operator must confirm a settings change: lowering a limit discards the
// data beyond it.
func ConfirmSettings(before, after fsm.Settings) (reasons []Confirmation) {
	oldReq, newReq := before.Requests.OrDefault(), after.Requests.OrDefault()
	confirmIf := func(lowered bool, text string) {
		if lowered {
			reasons = append(reasons, Confirmation{LowersBound, text})
		}
	}
	confirmIf(after.JournalPerSemaphore < before.JournalPerSemaphore || after.JournalTotal < before.JournalTotal || after.JournalLife() < before.JournalLife(),
		"journal entries beyond the new limit are lost, and the changes they record cannot be undone")
	confirmIf(after.RememberedDeletions < before.RememberedDeletions,
		"versions of deleted definitions beyond the new limit are forgotten")
	confirmIf(newReq.Lifetime < oldReq.Lifetime || newReq.Kept < oldReq.Kept || newReq.RequestBytes < oldReq.RequestBytes || newReq.EditBytes < oldReq.EditBytes,
		"requests are forgotten sooner, so late retries fail")
	return reasons
}

// SettingsWarnings returns warnings for the operator about a settings change.
func SettingsWarnings(state *fsm.State, before, after fsm.Settings) []string {
	if after.MaxDuration >= before.MaxDuration {
		return nil
	}
	longer := 0
	for d := range state.Definitions("") {
		if max(d.Definition.Duration, d.Definition.MinHold, d.Definition.LossDelay) > after.MaxDuration {
			longer++
		}
	}
	if longer == 0 {
		return nil
	}
	return []string{fmt.Sprintf("definitions whose duration, min_hold or loss_delay exceeds the new maximum of %v: %d; they are unchanged until edited", after.MaxDuration, longer)}
}
