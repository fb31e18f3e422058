// Package nearest finds the word that a person most likely meant by one that nobody knows: a key of a file, a flag, a variable.
package nearest

import "strings"

// Word returns the known word with the fewest edits from unknown, letter case aside; of equally near ones the first. It
// returns "" when none is near enough to be a likely slip: more than a third of the longer word would have to change.
func Word(unknown string, known []string) string {
	best, bestDistance := "", 0
	for _, word := range known {
		d := distance(strings.ToLower(unknown), strings.ToLower(word))
		if best == "" || d < bestDistance {
			best, bestDistance = word, d
		}
	}
	if 3*bestDistance > max(len(unknown), len(best)) {
		return ""
	}
	return best
}

// distance is Levenshtein's, and two neighbours that changed places count once, as fingers do that: how many bytes to insert,
// delete, replace or swap. Keys, flags and names are mostly ASCII, so bytes do.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
