package metrics

import "github.com/prometheus/client_golang/prometheus"

// tee registers with several registerers, or with none when one refuses.
type tee []prometheus.Registerer

// Register registers c everywhere or nowhere.
func (t tee) Register(c prometheus.Collector) error {
	for i, r := range t {
		if err := r.Register(c); err != nil {
			t[:i].Unregister(c)
			return err
		}
	}
	return nil
}

// MustRegister is Register that panics.
func (t tee) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		if err := t.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister takes c back from everywhere, and reports whether it was anywhere.
func (t tee) Unregister(c prometheus.Collector) bool {
	found := false
	for _, r := range t {
		found = r.Unregister(c) || found
	}
	return found
}
