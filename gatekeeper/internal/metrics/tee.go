package metrics

import "github.com/prometheus/client_golang/prometheus"

// tee registers collectors with several registerers, or with none of them if one fails.
type tee []prometheus.Registerer

// Register registers c with all registerers or with none.
func (t tee) Register(c prometheus.Collector) error {
	for i, r := range t {
		if err := r.Register(c); err != nil {
			t[:i].Unregister(c)
			return err
		}
	}
	return nil
}

// MustRegister is like Register, but panics on an error.
func (t tee) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		if err := t.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister unregisters c from all registerers and reports whether any of them had it.
func (t tee) Unregister(c prometheus.Collector) bool {
	found := false
	for _, r := range t {
		found = r.Unregister(c) || found
	}
	return found
}
