package semaphore

import (
	"maps"
	"slices"
)

// Revert undoes a change to a definition. before and after are the definition before and after that change. Each field
// that was set by the change is restored to its value in before. A field that has since been set to a third value is
// left unchanged and listed in kept. The fields in kept are in API order, and each label key counts as a field
// ("labels.team"). Revert never changes the name. It returns a new definition, which equals current if there is nothing
// to undo.
func Revert(current, before, after *Definition) (restored *Definition, kept []string) {
	r := *current
	restored = &r
	revertField(&kept, "description", &r.Description, before.Description, after.Description)
	r.Labels = LabelsOf(revertLabels(&kept, current.Labels.Map(), before.Labels.Map(), after.Labels.Map()))
	revertField(&kept, "group_pattern", &r.GroupPattern, before.GroupPattern, after.GroupPattern)
	revertField(&kept, "acquirer_pattern", &r.AcquirerPattern, before.AcquirerPattern, after.AcquirerPattern)
	revertField(&kept, "permits", &r.Permits, before.Permits, after.Permits)
	revertField(&kept, "duration", &r.Duration, before.Duration, after.Duration)
	revertField(&kept, "max_hold", &r.MaxHold, before.MaxHold, after.MaxHold)
	revertField(&kept, "min_hold", &r.MinHold, before.MinHold, after.MinHold)
	revertField(&kept, "loss_delay", &r.LossDelay, before.LossDelay, after.LossDelay)
	revertField(&kept, "on_expiry", &r.OnExpiry, before.OnExpiry, after.OnExpiry)
	revertField(&kept, "firing_on_loss", &r.FiringOnLoss, before.FiringOnLoss, after.FiringOnLoss)
	revertField(&kept, "takeover", &r.Takeover, before.Takeover, after.Takeover)
	revertField(&kept, "expect_every", &r.ExpectEvery, before.ExpectEvery, after.ExpectEvery)
	revertField(&kept, "firing_retention", &r.FiringRetention, before.FiringRetention, after.FiringRetention)
	revertField(&kept, "firing_limit", &r.FiringLimit, before.FiringLimit, after.FiringLimit)
	revertField(&kept, "firing_max_ahead", &r.FiringMaxAhead, before.FiringMaxAhead, after.FiringMaxAhead)
	revertField(&kept, "max_attempts", &r.MaxAttempts, before.MaxAttempts, after.MaxAttempts)
	revertField(&kept, "misfire", &r.Misfire, before.Misfire, after.Misfire)
	revertField(&kept, "misfire_window", &r.MisfireWindow, before.MisfireWindow, after.MisfireWindow)
	return restored, kept
}

func revertField[T comparable](kept *[]string, field string, value *T, before, after T) {
	switch {
	case before == after || *value == before:
	case *value == after:
		*value = before
	default:
		*kept = append(*kept, field)
	}
}

// revertLabels does for each label key what revertField does for a field, and treats an absent label as a value. It
// modifies current.
func revertLabels(kept *[]string, current, before, after map[string]string) map[string]string {
	for _, key := range sortedKeys(before, after) {
		oldValue, hadOld := before[key]
		newValue, hasNew := after[key]
		value, exists := current[key]
		switch {
		case hadOld == hasNew && oldValue == newValue || hadOld == exists && oldValue == value:
		case hasNew != exists || newValue != value:
			*kept = append(*kept, "labels."+key)
		case hadOld:
			if current == nil {
				current = make(map[string]string)
			}
			current[key] = oldValue
		default:
			delete(current, key)
		}
	}
	return current
}

// sortedKeys returns the keys of both maps, sorted and without duplicates.
func sortedKeys(a, b map[string]string) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Changed returns the names of the fields in which two definitions differ, in API order. Each label key counts as a
// field ("labels.team").
func Changed(before, after *Definition) []string {
	var fields []string
	compare := func(field string, same bool) {
		if !same {
			fields = append(fields, field)
		}
	}
	compare("description", before.Description == after.Description)
	for _, key := range sortedKeys(before.Labels.Map(), after.Labels.Map()) {
		oldValue, hadOld := before.Labels.Get(key)
		newValue, hasNew := after.Labels.Get(key)
		compare("labels."+key, hadOld == hasNew && oldValue == newValue)
	}
	compare("group_pattern", before.GroupPattern == after.GroupPattern)
	compare("acquirer_pattern", before.AcquirerPattern == after.AcquirerPattern)
	compare("permits", before.Permits == after.Permits)
	compare("duration", before.Duration == after.Duration)
	compare("max_hold", before.MaxHold == after.MaxHold)
	compare("min_hold", before.MinHold == after.MinHold)
	compare("loss_delay", before.LossDelay == after.LossDelay)
	compare("on_expiry", before.OnExpiry == after.OnExpiry)
	compare("firing_on_loss", before.FiringOnLoss == after.FiringOnLoss)
	compare("takeover", before.Takeover == after.Takeover)
	compare("expect_every", before.ExpectEvery == after.ExpectEvery)
	compare("firing_retention", before.FiringRetention == after.FiringRetention)
	compare("firing_limit", before.FiringLimit == after.FiringLimit)
	compare("firing_max_ahead", before.FiringMaxAhead == after.FiringMaxAhead)
	compare("max_attempts", before.MaxAttempts == after.MaxAttempts)
	compare("misfire", before.Misfire == after.Misfire)
	compare("misfire_window", before.MisfireWindow == after.MisfireWindow)
	return fields
}
