// Package bench has the command that measures a cluster.
package bench
