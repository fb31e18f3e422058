// Package cluster implements the commands about servers and how to reach them: gkctl cluster, status and context.
package cluster
