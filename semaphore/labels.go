package semaphore

import (
	"cmp"
	"slices"
)

// A Label is a key-value pair that users attach to a definition.
type Label struct{ Key, Value string }

// Labels holds a definition's labels, sorted by unique key. It is immutable, and nil if there are none. A map with two
// labels takes four times as much space, and a server may keep 100,000 definitions.
type Labels []Label

// LabelsOf converts a map to Labels.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return nil
	}
	l := make(Labels, 0, len(m))
	for key, value := range m {
		l = append(l, Label{key, value})
	}
	slices.SortFunc(l, func(a, b Label) int { return cmp.Compare(a.Key, b.Key) })
	return l
}

// Get returns the value of a key, and whether the key exists.
func (l Labels) Get(key string) (value string, ok bool) {
	i, ok := slices.BinarySearchFunc(l, key, func(e Label, key string) int { return cmp.Compare(e.Key, key) })
	if !ok {
		return "", false
	}
	return l[i].Value, true
}

// Map returns a copy as a map, or nil if there are no labels.
func (l Labels) Map() map[string]string {
	if len(l) == 0 {
		return nil
	}
	m := make(map[string]string, len(l))
	for _, e := range l {
		m[e.Key] = e.Value
	}
	return m
}
