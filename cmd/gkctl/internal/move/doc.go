// Package move has the commands that decide where and whether jobs run: move, pause, resume, cordon, uncordon and cordons.
//
// A move is shown by a dry run, made by a second call with its digest, and followed by a watch until the old holders are gone: handovers takes the
// events, board shows them, and report sums up.
package move
