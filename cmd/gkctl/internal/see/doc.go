// Package see has the commands that show the state of a cluster: get, holders, waiters, explain, history and watch.
package see
