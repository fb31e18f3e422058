// Package workers implements the commands for workers: gkctl work, which turns any program into a worker, and gkctl
// work list.
package workers
