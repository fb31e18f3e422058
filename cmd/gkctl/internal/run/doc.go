// Package run has the commands of a permit's holder: run, acquire, refresh, release and verify; and revoke and clear, by which an operator ends permits.
package run
