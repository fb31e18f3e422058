// Package conn reaches the servers. Factory carries the streams, the global flags and the way to dial; every command gets one. It also knows the file of
// contexts, and completes words by what the servers know.
package conn
