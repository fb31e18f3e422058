// Package snapshot has the commands that save and inspect backups.
package snapshot
