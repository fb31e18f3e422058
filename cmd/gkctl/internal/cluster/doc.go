// Package cluster implements the commands for servers and the connections to them: gkctl cluster, status and context.
package cluster
