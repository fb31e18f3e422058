// Package batcher turns many commands into few log entries.
//
// One entry of the log costs two syncs in a row and a round to the followers, whatever it holds; a command costs next
// to nothing. So the batcher keeps exactly one entry in flight, and everything that is asked for meanwhile becomes the
// next one. There is no linger timer: a lone command is handed over at once, and under load the entries grow by
// themselves, because the time that one takes is the time in which the next is collected. Two entries in flight were
// measured to be slower: they halve the commands in each.
//
// Commands are handed over in the order in which they came, and each sees those before it. The batcher never proposes a
// command twice: whether a command whose outcome is unknown may be repeated is for the caller to know.
//
// # What an outcome says
//
// Exactly one of three things is said of every command. It was applied, and this is its result. It is certainly not in
// the log and never will be (consensus.ErrNotAppended). Or nobody knows (consensus.ErrUnknownOutcome): it may have been
// applied, it may be applied later, by another leader, or never. Whatever is not certain is unknown.
//
// # The moment it was handed over
//
// Outcome.Handed is read just before the entry is handed to Raft, after everything that can take time here. A grant is
// counted from that moment: a leader that is paused between handing a grant over and answering it may have been deposed
// in between, and its successor restarts deadlines from its own promotion, which lies after this moment.
//
// # When there is too much
//
// What waits is counted. Beyond a bound commands are refused at once, as certainly not appended, because a caller that
// hears so early can go elsewhere or wait, and a caller in a line of minutes has usually left when its turn comes.
package batcher
