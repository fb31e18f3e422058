// Package cluster has the commands about servers and how to reach them: cluster, status and context.
package cluster
