// Package nearest suggests corrections for misspelled keys, flags and names.
package nearest

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// Word returns the known word that is the fewest edits away from unknown, ignoring case. If several are equally close,
// it returns the first. It returns "" if no word is a likely correction, that is, if more than a third of the longer
// word would have to change.
func Word(unknown string, known []string) string { return Among(unknown, slices.Values(known)) }

// Prefixed is like Word, but for ids that begin with one of the prefixes. An id that lacks only its prefix takes
// precedence.
func Prefixed(unknown string, known []string, prefixes ...string) string {
	for _, prefix := range prefixes {
		if slices.Contains(known, prefix+unknown) {
			return prefix + unknown
		}
	}
	return Word(unknown, known)
}

// Among is like Word, but takes a sequence. It is fast enough for 100,000 words, because comparing letter counts rules
// out most of them.
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
			continue // each edit fixes at most one letter
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

// common returns how many letters of word are also among the counted letters, regardless of position. It restores
// letters before it returns.
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

// distance returns the Levenshtein distance between a and b in bytes, except that a swap of two adjacent bytes, which
// is a common typo, counts as one edit. Keys, flags and names are mostly ASCII, so comparing bytes is enough. If the
// distance is not below limit, it returns limit. Because there may be 100,000 words, it computes only the cells within
// limit of the diagonal. All other cells are at least limit. The lengths must differ by less than limit. rows is
// scratch space for three rows.
func distance(a, b string, limit int, rows []int) int {
	n := len(b) + 1
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range last {
		last[j] = j
	}
	prevRowMin := 0
	for i := range len(a) {
		from, to := max(0, i+1-limit), min(len(b), i+1+limit)
		row[from] = limit
		if from == 0 {
			row[0] = i + 1
		}
		rowMin := row[from]
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
			rowMin = min(rowMin, cost)
		}
		if rowMin >= limit && prevRowMin >= limit { // no later cell can be smaller; a swap uses the row before last
			return limit
		}
		prevRowMin = rowMin
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
