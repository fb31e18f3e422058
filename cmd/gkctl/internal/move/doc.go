// Package move implements the commands that decide where and whether jobs run: gkctl move, pause, resume, cordon,
// uncordon and cordons.
//
// A move is planned by a dry run, made by a second call with the plan's digest, and then followed with a watch until
// all old holders have stopped. handovers processes the events, board displays them, and moveReport sums them up.
package move
