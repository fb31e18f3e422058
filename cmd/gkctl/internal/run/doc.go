// Package run has the commands of permit holders (run, acquire, refresh, release and verify), and those by which an
// operator ends permits (revoke and clear).
package run
