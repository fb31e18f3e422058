// Package run implements the commands of permit holders (gkctl run, acquire, refresh, release and verify), and the
// commands by which an operator ends permits (revoke and clear).
package run
