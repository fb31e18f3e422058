// Package workers has the commands of workers: work, which turns any program into a worker, and work list.
package workers
