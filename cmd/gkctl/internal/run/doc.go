// Package run implements the commands for permit holders (gkctl run, acquire, refresh, release and verify) and the
// commands that operators use to end permits (revoke and clear).
package run
