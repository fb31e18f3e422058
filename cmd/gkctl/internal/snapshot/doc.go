// Package snapshot implements the commands that save and inspect backups.
package snapshot
