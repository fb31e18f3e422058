// Package see has the commands that show what a cluster knows: get, holders, waiters, explain, history and watch.
package see
