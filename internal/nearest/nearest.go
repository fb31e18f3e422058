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

// distance is Levenshtein's: how many bytes to insert, delete or replace. Keys and flags are ASCII, so bytes do.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
