// Package move has the commands that decide where and whether jobs run: move, pause, resume, cordon, uncordon and
// cordons.
//
// A move is planned by a dry run, made by a second call with the plan's digest, and followed with a watch until the old
// holders are gone. handovers processes the events, board displays them, and report sums them up.
package move
