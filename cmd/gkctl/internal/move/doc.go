// Package move implements the commands that decide where and whether jobs run: gkctl move, pause, resume, cordon,
// uncordon and cordons.
//
// A dry run plans the move, a second call with the plan's digest makes it, and a watch then follows it until all old
// holders have stopped. handovers processes the events, board displays them, and moveReport summarizes them.
package move
