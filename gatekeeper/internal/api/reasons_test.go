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

// reasons documents every ErrorInfo.reason: its meaning, and whether the call may be retried. It is ordered for
// readers: first the reasons that any call may return, then those for permits, jobs, edits, members and bindings.
var reasons = []struct{ reason, meaning, retry string }{
	{reasonNotLeader, "This server is not the leader; `leader_api` in the metadata is the leader's address. Nothing was done.", "immediately, against the leader"},
	{reasonNoLeader, "No leader is known, or this server cannot reach it. Nothing was done.", "yes, against any server"},
	{reasonNotConfirmed, "The leader could not confirm that it still leads. Nothing was read or changed.", "yes"},
	{reasonNotAppended, "The command is definitely not in the log. With `RESOURCE_EXHAUSTED` the server is overloaded; with `UNAVAILABLE`, the keys that verify a JWT may have been unavailable.", "yes; with `RESOURCE_EXHAUSTED`, after the time in `RetryInfo`"},
	{reasonOutcomeUnknown, "The command may have been applied, or may still be applied later.", "yes, with the same request id; without one, read first"},
	{reasonShuttingDown, "This server is shutting down. The call was refused and changed nothing, or the stream was ended.", "yes, against another server"},
	{reasonHopLimit, "The address advertised by the leader belongs to a server that is not the leader.", "yes; if it persists, correct the members' advertised addresses"},
	{reasonWrongCluster, "The call names a cluster other than this server's.", "no: correct the endpoints"},
	{reasonRecovering, "The cluster was recovered and will not grant permits until every earlier permit has ended.", "yes, later"},
	{reasonInvalidField, "A field violates a rule; the metadata has `field`, `value` and `rule`.", "no"},
	{reasonTooLarge, "The message is larger than 4 MiB.", "no: split it"},
	{reasonFeatureLevel, "Not every server in the cluster supports this command yet.", "after the upgrade"},
	{reasonRefused, "The state machine refused the command; the message says why.", "no"},
	{reasonInternal, "A bug in the server, which has logged the details. The outcome is unknown.", "no; report it"},

	{reasonRequestEnded, "The permit granted for this request has ended, or the request was cancelled. A request is never granted twice.", "with a new request id"},
	{reasonRequestReused, "The request id belongs to a different request.", "with a new request id"},
	{reasonRequestTooOld, "The server may have forgotten this request, so it cannot tell whether the request was granted.", "with a new request id"},
	{reasonRevisionChanged, "`expected_revision` is no longer the semaphore's permit revision.", "no: read again, then decide"},
	{reasonSuperseded, "Another call with the same request id has taken its place in the queue.", "no: the other call gets the response"},
	{reasonNoSuchJob, "No job has this id. It was never submitted, or it was deleted.", "no"},
	{reasonJobDiffers, "A job with different content has this id.", "with another id"},
	{reasonJobNotFinished, "Some of the job's tasks are still waiting or held.", "when the job has finished"},
	{reasonSubmissionLost, "The submission was dropped, or another one with the same id has been started.", "yes, from the beginning"},
	{reasonWorkLimit, "The call would exceed a limit on stored jobs; the metadata has `limit`, `needed` and `max`.", "after deleting jobs or raising the limit"},
	{reasonNoSuchPermit, "No permit with this token is in the state that the command requires.", "no"},

	{reasonNoSuchDefinition, "No definition has this name. `suggestion` in the metadata suggests the most similar name.", "no"},
	{reasonAlreadyExists, "A definition with this name already exists.", "no"},
	{reasonStaleVersion, "The definition does not have the expected version. No edit in the batch was applied.", "no: read again, then edit"},
	{reasonNoMatch, "No definitions match the names and labels. `suggestion` in the metadata suggests similar globs or labels.", "no"},
	{reasonNoSuchCordon, "No cordon has this id. `suggestion` in the metadata suggests the most similar id.", "no"},
	{reasonNoSuchChange, "There is no such change, or the journal no longer has a record of it.", "no"},
	{reasonChangedSince, "The change would no longer have the effect that its dry run showed, so nothing was done. The metadata lists what has been edited since.", "after a new dry run"},
	{reasonUndoConflict, "The same fields have since been changed again. Nothing was undone.", "with `skip_conflicts`"},
	{reasonUndoIncomplete, "Part of the change is no longer in the journal. Nothing was undone.", "with `partial`"},
	{reasonNoSuchFiring, "The semaphore has no record of this firing.", "no"},
	{reasonFiringConflict, "A firing still has a permit, or firings other than those shown would be forgotten. Nothing was forgotten.", "after listing again, or when the permit has ended"},

	{reasonMemberExists, "A member at a different address already has this id.", "no"},
	{reasonMemberRetired, "The member with this id was removed, and the id cannot be used again.", "with a new id and an empty data directory"},
	{reasonNoSuchMember, "No member has this id.", "no"},
	{reasonNotAVoter, "The member is not a voter.", "once it is a voter"},
	{reasonLastVoter, "The cluster would be left without a voter.", "no"},
	{reasonWouldLoseQuorum, "Fewer than a majority of the remaining voters are responding.", "when they respond, or with `force`"},
	{reasonHasVote, "The member is already a voter, and cannot be demoted.", "no"},
	{reasonAddedNonVoter, "An operator added this member as a non-voter.", "no: an operator must promote it"},
	{reasonUnauthenticated, "The credential is missing, unknown, revoked or expired.", "with another credential"},
	{reasonTooManyFailures, "Too many invalid bearer tokens came from the caller's address; this one was not checked.", "after the time in `RetryInfo`"},
	{reasonForbidden, "The principal lacks a role that this call requires; the metadata has `principal` and `role`.", "once an administrator has granted it"},
	{reasonNoSuchBinding, "There is no such binding or token.", "no"},
	{reasonSubjectTaken, "Another binding has this subject; the metadata has `binding`.", "no"},
	{reasonLastAdmin, "The cluster would be left without an administrator.", "no"},
	{reasonAccessLimit, "The maximum number of bindings, or of tokens for the binding, has been reached.", "after removing some"},
	{reasonTransferFailed, "Leadership was not transferred.", "yes"},
}

// TestReasons_AreDocumented compares docs/api.md with reasons and statusTable. With -update, it rewrites the page.
func TestReasons_AreDocumented(t *testing.T) {
	codes := map[string][]string{reasonInternal: {"INTERNAL"}}
	for _, r := range statusTable {
		if code := codeName(r.code.String()); r.reason != "" && !slices.Contains(codes[r.reason], code) {
			codes[r.reason] = append(codes[r.reason], code)
		}
	}
	var b strings.Builder
	b.WriteString("| reason | status | meaning | retry? |\n|---|---|---|---|\n")
	for _, r := range reasons {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", r.reason, strings.Join(codes[r.reason], "`, `"), r.meaning, r.retry)
		if codes[r.reason] == nil {
			t.Errorf("statusTable has no entry with reason %s", r.reason)
		}
		delete(codes, r.reason)
	}
	for reason := range codes {
		t.Errorf("reason %s is missing from reasons", reason)
	}

	const page, begin, end = "../../../docs/api.md", "<!-- reasons -->\n", "<!-- end of reasons -->\n"
	text := must(os.ReadFile(page))(t)
	before, rest, found := strings.Cut(string(text), begin)
	_, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s lacks the table markers %q and %q", page, begin, end)
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("the table of reasons in %s is outdated: run go test ./gatekeeper/internal/api -run Reasons -update", page)
	}
}

// codeName returns the name of a status code as spelled in the gRPC specification.
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
