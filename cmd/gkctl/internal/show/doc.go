// Package show implements the commands that show the state of a cluster: gkctl get, holders, waiters, explain, history
// and watch.
package show
