// Package workers has the commands of workers: work, which makes a worker of any program, and work list.
package workers
