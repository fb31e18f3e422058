// Package words formats API messages and values for operators. It does no I/O.
package words
