package semaphore

import "slices"

// Equal reports whether all fields of both definitions have the same values. Two nil definitions are equal.
func (d *Definition) Equal(o *Definition) bool {
	if d == nil || o == nil {
		return d == o
	}
	return d.Name == o.Name &&
		d.Description == o.Description &&
		slices.Equal(d.Labels, o.Labels) &&
		d.GroupPattern == o.GroupPattern &&
		d.AcquirerPattern == o.AcquirerPattern &&
		d.Permits == o.Permits &&
		d.Duration == o.Duration &&
		d.MaxHold == o.MaxHold &&
		d.MinHold == o.MinHold &&
		d.LossDelay == o.LossDelay &&
		d.OnExpiry == o.OnExpiry &&
		d.FiringOnLoss == o.FiringOnLoss &&
		d.Takeover == o.Takeover &&
		d.ExpectEvery == o.ExpectEvery &&
		d.FiringRetention == o.FiringRetention &&
		d.FiringLimit == o.FiringLimit &&
		d.FiringMaxAhead == o.FiringMaxAhead &&
		d.MaxAttempts == o.MaxAttempts &&
		d.Misfire == o.Misfire &&
		d.MisfireWindow == o.MisfireWindow
}

// Clone returns a copy that shares no memory with d. It returns nil if d is nil.
func (d *Definition) Clone() *Definition {
	if d == nil {
		return nil
	}
	c := *d
	c.Labels = slices.Clone(d.Labels)
	return &c
}
