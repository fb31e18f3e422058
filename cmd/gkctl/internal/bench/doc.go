// Package bench implements gkctl bench, which measures a cluster.
package bench
