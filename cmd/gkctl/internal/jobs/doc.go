// Package jobs has the commands of jobs and their tasks.
package jobs
