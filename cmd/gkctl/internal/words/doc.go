// Package words says API messages and values in the words of an operator. It reads and writes nothing, and asks no server.
package words
