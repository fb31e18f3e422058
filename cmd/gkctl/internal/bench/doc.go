// Package bench implements gkctl bench, which measures a cluster's throughput and latency.
package bench
