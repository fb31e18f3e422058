package api

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of reasons into docs/api.md")

// reasons documents every ErrorInfo.reason: what it means, and whether the call may be repeated. An order for readers:
// first those that any call may meet, then those of permits, edits and members.
var reasons = []struct{ reason, means, retry string }{
	{reasonNotLeader, "This server does not lead; `leader_api` in the metadata does. Nothing was done.", "at once, at the leader"},
	{reasonNoLeader, "No leader is known, or it cannot be reached from here. Nothing was done.", "yes, at any server"},
	{reasonNotConfirmed, "The leader could not prove that it still leads. It answered nothing, and nothing was changed.", "yes"},
	{reasonNotAppended, "The command is certainly not in the log. With `RESOURCE_EXHAUSTED` the server is overloaded; with `UNAVAILABLE` it may be that the keys of a JWT could not be fetched.", "yes; with `RESOURCE_EXHAUSTED` after `RetryInfo`"},
	{reasonOutcomeUnknown, "The command may have been applied or may still be.", "yes, with the same request id; without one, read first"},
	{reasonShuttingDown, "This server is stopping. The call changed nothing; a stream has ended.", "yes, at another server"},
	{reasonHopLimit, "The address that the leader advertises leads to a server that does not lead.", "yes; if it persists, correct what the members advertise"},
	{reasonWrongCluster, "The call names another cluster than this server's.", "no: correct the endpoints"},
	{reasonRecovering, "The cluster was recovered and grants nothing until every earlier permit has ended.", "yes, later"},
	{reasonInvalidField, "A field breaks a rule; the metadata has `field`, `value` and `rule`.", "no"},
	{reasonTooLarge, "The message is larger than 4 MiB.", "no: split it"},
	{reasonFeatureLevel, "Not every server of the cluster knows this command yet.", "after the upgrade"},
	{reasonRefused, "The state machine refused the command; the message says why.", "no"},
	{reasonInternal, "A fault of the server, which has logged it. The outcome is unknown.", "no; report it"},

	{reasonRequestEnded, "The request was granted and has ended, or was cancelled. An id never grants twice.", "with a new request id"},
	{reasonRequestReused, "The request id belongs to a request that asked for something else.", "with a new request id"},
	{reasonRequestTooOld, "The server may have forgotten this request, so it cannot tell whether it was granted.", "with a new request id"},
	{reasonRevisionChanged, "`expected_revision` is no longer the semaphore's permit revision.", "no: read again, then decide"},
	{reasonSuperseded, "Another call with the same request id has taken over the place in the queue.", "no: the other call has the answer"},
	{reasonNoSuchJob, "No job has this id: it was not submitted, or was deleted.", "no"},
	{reasonJobDiffers, "A job of other content has this id.", "no: with another id"},
	{reasonJobNotOver, "Tasks of the job wait or are held.", "after the job is over"},
	{reasonSubmissionLost, "The submission was dropped, or another one of the same id has begun.", "yes, from the beginning"},
	{reasonWorkLimit, "A limit of what is stored for jobs would be exceeded; the metadata has `limit`, `needed` and `max`.", "after jobs were deleted, or the settings raised"},
	{reasonNoSuchPermit, "No permit has this token in the state that the command needs.", "no"},

	{reasonNoSuchDefinition, "No definition has this name. `meant` in the metadata is the one that was likely meant.", "no"},
	{reasonAlreadyExists, "A definition has this name already.", "no"},
	{reasonStaleVersion, "The definition is at another version than expected; nothing of the batch was done.", "no: read again, then edit"},
	{reasonNothingChosen, "No definition matches the names and labels. `meant` in the metadata is the glob or the labels that were likely meant.", "no"},
	{reasonNoSuchCordon, "No cordon has this id. `meant` in the metadata is the one that was likely meant.", "no"},
	{reasonNoSuchChange, "The journal does not know this change, or has forgotten it.", "no"},
	{reasonChangedSince, "The change would not do what its dry run showed; nothing was done. The metadata names what was edited since.", "after a new dry run"},
	{reasonUndoConflict, "The same fields were set again since; nothing was undone.", "with `skip_conflicts`"},
	{reasonUndoIncomplete, "The journal has forgotten a part of the change; nothing was undone.", "with `partial`"},
	{reasonNoSuchFiring, "The semaphore does not remember this firing.", "no"},
	{reasonFiringConflict, "A firing holds its permit, or others than those shown would be forgotten; nothing was forgotten.", "look again; when the permit has ended"},

	{reasonMemberExists, "A member has this id, at another address.", "no"},
	{reasonMemberRetired, "This id was removed for good.", "with a new id and an empty folder"},
	{reasonNoSuchMember, "No member has this id.", "no"},
	{reasonNotAVoter, "The member has no vote.", "when it has one"},
	{reasonLastVoter, "The cluster would be left without a voter.", "no"},
	{reasonWouldLoseQuorum, "Fewer voters that answer would be left than a majority.", "when they answer, or with `force`"},
	{reasonHasVote, "The member has a vote already, which is not taken back.", "no"},
	{reasonAddedNonVoter, "An operator added this member without a vote.", "no: an operator promotes it"},
	{reasonUnauthenticated, "The credential is missing, unknown, revoked or expired.", "with another credential"},
	{reasonTooManyFailures, "Too many wrong bearer tokens came from the caller's address; this one was not looked at.", "after the time of `RetryInfo`"},
	{reasonForbidden, "The principal lacks a role here: the metadata has `principal` and `role`.", "once an administrator has granted it"},
	{reasonNoSuchBinding, "There is no such binding or token.", "no"},
	{reasonSubjectTaken, "Another binding has this subject: the metadata has `binding`.", "no"},
	{reasonLastAdmin, "Nobody would administer the cluster any more.", "no"},
	{reasonAccessLimit, "There are as many bindings, or tokens of the binding, as there may be.", "after some were removed"},
	{reasonTransferFailed, "Leadership was not handed over.", "yes"},
}

// TestReasons_AreDocumented holds docs/api.md against the table of statuses; -update writes it.
func TestReasons_AreDocumented(t *testing.T) {
	codes := map[string][]string{reasonInternal: {"INTERNAL"}}
	for _, r := range statusTable {
		if code := codeName(r.code.String()); r.reason != "" && !slices.Contains(codes[r.reason], code) {
			codes[r.reason] = append(codes[r.reason], code)
		}
	}
	var b strings.Builder
	b.WriteString("| reason | status | meaning | repeat the call? |\n|---|---|---|---|\n")
	for _, r := range reasons {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", r.reason, strings.Join(codes[r.reason], "`, `"), r.means, r.retry)
		if codes[r.reason] == nil {
			t.Errorf("no error has the reason %s", r.reason)
		}
		delete(codes, r.reason)
	}
	for reason := range codes {
		t.Errorf("the reason %s is not explained", reason)
	}

	const page, begin, end = "../../../docs/api.md", "<!-- reasons -->\n", "<!-- end of reasons -->\n"
	text := must(os.ReadFile(page))(t)
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table, between %q and %q", page, begin, end)
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s has another table of reasons: go test ./gatekeeper/internal/api -run Reasons -update", page)
	}
}

// codeName is the name of a status code as the specification spells it.
func codeName(camel string) string {
	var b strings.Builder
	for i, r := range camel {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}
