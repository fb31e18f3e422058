// Package run implements the commands for permit holders (gkctl run, acquire, refresh, release and verify), and those
// with which an operator ends permits (revoke and clear).
package run
