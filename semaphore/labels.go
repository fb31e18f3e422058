package semaphore

import (
	"cmp"
	"slices"
)

// Label is a text that people gave a definition, by a key.
type Label struct{ Key, Value string }

// Labels holds a definition's labels, sorted by unique key. A nil Labels is empty. They are immutable. A map takes four
// times as much for two of them, and a server keeps a hundred thousand definitions.
type Labels []Label

// LabelsOf are the labels of a map.
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

// Get returns the value of a key, and whether there is one.
func (l Labels) Get(key string) (value string, ok bool) {
	i, ok := slices.BinarySearchFunc(l, key, func(e Label, key string) int { return cmp.Compare(e.Key, key) })
	if !ok {
		return "", false
	}
	return l[i].Value, true
}

// Map returns a copy as a map; nil when there are none.
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
