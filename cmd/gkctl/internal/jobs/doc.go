// Package jobs implements the commands for jobs and their tasks: gkctl job and gkctl task.
package jobs
