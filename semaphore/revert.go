package semaphore

import (
	"maps"
	"slices"
)

// Revert undoes a change to a definition. before and after are the definition before and after that change. Each field
// that the change set is restored to its value in before. A field that has since been set to a third value is left
// unchanged and listed in kept. The fields in kept are in API order, and each label key counts as a field
// ("labels.team"). Revert never changes the name. It returns a new definition, which equals current if there is nothing
// to undo.
func Revert(current, before, after *Definition) (restored *Definition, kept []string) {
	r := *current
	restored = &r
	back(&kept, "description", &r.Description, before.Description, after.Description)
	r.Labels = LabelsOf(backLabels(&kept, current.Labels.Map(), before.Labels.Map(), after.Labels.Map()))
	back(&kept, "group_pattern", &r.GroupPattern, before.GroupPattern, after.GroupPattern)
	back(&kept, "acquirer_pattern", &r.AcquirerPattern, before.AcquirerPattern, after.AcquirerPattern)
	back(&kept, "permits", &r.Permits, before.Permits, after.Permits)
	back(&kept, "duration", &r.Duration, before.Duration, after.Duration)
	back(&kept, "max_hold", &r.MaxHold, before.MaxHold, after.MaxHold)
	back(&kept, "min_hold", &r.MinHold, before.MinHold, after.MinHold)
	back(&kept, "loss_delay", &r.LossDelay, before.LossDelay, after.LossDelay)
	back(&kept, "on_expiry", &r.OnExpiry, before.OnExpiry, after.OnExpiry)
	back(&kept, "firing_on_loss", &r.FiringOnLoss, before.FiringOnLoss, after.FiringOnLoss)
	back(&kept, "takeover", &r.Takeover, before.Takeover, after.Takeover)
	back(&kept, "expect_every", &r.ExpectEvery, before.ExpectEvery, after.ExpectEvery)
	back(&kept, "firing_retention", &r.FiringRetention, before.FiringRetention, after.FiringRetention)
	back(&kept, "firing_limit", &r.FiringLimit, before.FiringLimit, after.FiringLimit)
	back(&kept, "firing_max_ahead", &r.FiringMaxAhead, before.FiringMaxAhead, after.FiringMaxAhead)
	back(&kept, "max_attempts", &r.MaxAttempts, before.MaxAttempts, after.MaxAttempts)
	back(&kept, "misfire", &r.Misfire, before.Misfire, after.Misfire)
	back(&kept, "misfire_window", &r.MisfireWindow, before.MisfireWindow, after.MisfireWindow)
	return restored, kept
}

func back[T comparable](kept *[]string, field string, now *T, before, after T) {
	switch {
	case before == after || *now == before:
	case *now == after:
		*now = before
	default:
		*kept = append(*kept, field)
	}
}

// backLabels does the same as revertField for each label key, and treats an absent label as a value. It modifies
// current.
func backLabels(kept *[]string, current, before, after map[string]string) map[string]string {
	for _, key := range keysOf(before, after) {
		was, had := before[key]
		set, has := after[key]
		now, is := current[key]
		switch {
		case had == has && was == set || had == is && was == now:
		case has != is || set != now:
			*kept = append(*kept, "labels."+key)
		case had:
			if current == nil {
				current = make(map[string]string)
			}
			current[key] = was
		default:
			delete(current, key)
		}
	}
	return current
}

// keysOf returns the keys of both maps, sorted and without duplicates.
func keysOf(a, b map[string]string) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Changed returns the names of the fields in which two definitions differ, in API order. Each label key counts as a
// field ("labels.team").
func Changed(before, after *Definition) []string {
	var fields []string
	differs := func(field string, same bool) {
		if !same {
			fields = append(fields, field)
		}
	}
	differs("description", before.Description == after.Description)
	for _, key := range keysOf(before.Labels.Map(), after.Labels.Map()) {
		was, had := before.Labels.Get(key)
		set, has := after.Labels.Get(key)
		differs("labels."+key, had == has && was == set)
	}
	differs("group_pattern", before.GroupPattern == after.GroupPattern)
	differs("acquirer_pattern", before.AcquirerPattern == after.AcquirerPattern)
	differs("permits", before.Permits == after.Permits)
	differs("duration", before.Duration == after.Duration)
	differs("max_hold", before.MaxHold == after.MaxHold)
	differs("min_hold", before.MinHold == after.MinHold)
	differs("loss_delay", before.LossDelay == after.LossDelay)
	differs("on_expiry", before.OnExpiry == after.OnExpiry)
	differs("firing_on_loss", before.FiringOnLoss == after.FiringOnLoss)
	differs("takeover", before.Takeover == after.Takeover)
	differs("expect_every", before.ExpectEvery == after.ExpectEvery)
	differs("firing_retention", before.FiringRetention == after.FiringRetention)
	differs("firing_limit", before.FiringLimit == after.FiringLimit)
	differs("firing_max_ahead", before.FiringMaxAhead == after.FiringMaxAhead)
	differs("max_attempts", before.MaxAttempts == after.MaxAttempts)
	differs("misfire", before.Misfire == after.Misfire)
	differs("misfire_window", before.MisfireWindow == after.MisfireWindow)
	return fields
}
