// Package counted formats counts.
package counted

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Format formats counts as "12 a, 3 b" with the given separator, most frequent first. It returns "none" if there are no
// counts.
func Format(counts map[string]int, separator string) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	if len(names) == 0 {
		return "none"
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", counts[name], name)
	}
	return strings.Join(names, separator)
}
