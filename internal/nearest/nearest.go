// Package nearest finds the word that a person most likely meant by one that nobody knows: a key of a file, a flag, a
// name.
package nearest

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// Word returns the known word with the fewest edits from unknown, letter case aside; of equally near ones the first. It
// returns "" when none is near enough to be a likely slip: more than a third of the longer word would have to change.
func Word(unknown string, known []string) string { return Among(unknown, slices.Values(known)) }

// Prefixed is Word for ids that begin with one of the prefixes. An id that lacks only its prefix wins.
func Prefixed(unknown string, known []string, prefixes ...string) string {
	for _, prefix := range prefixes {
		if slices.Contains(known, prefix+unknown) {
			return prefix + unknown
		}
	}
	return Word(unknown, known)
}

// Among is Word for a sequence. It is fast enough for 100,000 words: most are passed over because of their letters.
func Among(unknown string, known iter.Seq[string]) string {
	lower := strings.ToLower(unknown)
	var letters [256]int
	for i := range len(lower) {
		letters[lower[i]]++
	}
	best, bestDistance := "", math.MaxInt
	var rows []int
	for word := range known {
		limit := min(bestDistance, max(len(unknown), len(word))/3+1)
		other := strings.ToLower(word)
		if longer := max(len(lower), len(other)); longer-common(&letters, other) >= limit {
			continue // each edit mends one letter at most
		}
		if n := 3 * (len(other) + 1); len(rows) < n {
			rows = make([]int, 2*n)
		}
		if d := distance(lower, other, limit, rows); d < limit {
			best, bestDistance = word, d
		}
	}
	return best
}

// common counts the letters that a word has in common with the counted ones, wherever they stand. It leaves letters as
// they were.
func common(letters *[256]int, word string) int {
	n := 0
	for i := range len(word) {
		if letters[word[i]]--; letters[word[i]] >= 0 {
			n++
		}
	}
	for i := range len(word) {
		letters[word[i]]++
	}
	return n
}

// distance is Levenshtein's, and two neighbours that changed places count once, as fingers do that: how many bytes to
// insert, delete, replace or swap. Keys, flags and names are mostly ASCII, so bytes do. A distance that is not below
// limit is returned as limit. There may be 100,000 words to compare, so only the cells around the diagonal are
// computed: what lies limit away from it is no less than limit. Their lengths differ by less than limit. rows is
// scratch space for three rows.
func distance(a, b string, limit int, rows []int) int {
	n := len(b) + 1
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range last {
		last[j] = j
	}
	leastBefore := 0
	for i := range len(a) {
		from, to := max(0, i+1-limit), min(len(b), i+1+limit)
		row[from] = limit
		if from == 0 {
			row[0] = i + 1
		}
		least := row[from]
		for j := from; j < to; j++ {
			cost := last[j]
			if a[i] != b[j] {
				cost = min(cost, row[j])
				if j+1 < i+limit+1 {
					cost = min(cost, last[j+1])
				}
				cost++
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					cost = min(cost, before[j-1]+1)
				}
			}
			row[j+1] = cost
			least = min(least, cost)
		}
		if least >= limit && leastBefore >= limit { // nothing below is less, and a swap begins two rows above
			return limit
		}
		leastBefore = least
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
