package fsm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	logv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/log/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore"
	"github.com/gatekeeperd/gatekeeper/semaphore/work"
)

// Only the codec files (codec*.go) deal with the byte formats of the log and snapshots. All other code uses Commands
// and the types in package semaphore.

var (
	// ErrUnknownCommand means that a newer server wrote the entry, and this version does not support it. The server
	// must stop and be upgraded before it applies any more entries. If it skipped the entry, its state would differ
	// from the other servers' state.
	ErrUnknownCommand = errors.New("fsm: the log contains a command that this version does not recognize; upgrade this server")
	// ErrMalformed means that the bytes are not a log entry. The log is damaged, or was not written by Gatekeeper.
	ErrMalformed = errors.New("fsm: malformed log entry")
)

// marshaling makes the encoding deterministic: identical commands produce identical bytes.
//
//nolint:gochecknoglobals // constant options
var marshaling = proto.MarshalOptions{Deterministic: true}

// Encode encodes commands, in order, as one log entry. level is the feature level in force. Commands are passed as
// values (Grant, not *Grant). Encode rejects anything that Decode would not return unchanged: a time before 1678 or
// after 2262, text that is not UTF-8, a level that this version does not support, or a command whose Level is above the
// level in force.
func Encode(level uint32, cmds []Command) ([]byte, error) {
	if level == 0 || level > SupportedLevel {
		return nil, fmt.Errorf("fsm: cannot encode commands for feature level %d: this version supports 1 to %d", level, SupportedLevel)
	}
	entry := &logv1.Entry{FeatureLevel: level, Commands: make([]*logv1.Command, len(cmds))}
	for i, cmd := range cmds {
		if need := Level(cmd); need > level {
			return nil, fmt.Errorf("fsm: encode command %d (%T): it requires feature level %d, but the cluster is at %d; "+
				"the leader raises it once every server supports it", i, cmd, need, level)
		}
		var err error
		if entry.Commands[i], err = commandToProto(cmd); err != nil {
			return nil, fmt.Errorf("fsm: encode command %d (%T): %w", i, cmd, err)
		}
	}
	b, err := marshaling.Marshal(entry)
	if err != nil {
		return nil, fmt.Errorf("fsm: encode entry: %w", err)
	}
	return b, nil
}

// Decode decodes a log entry that Encode returned. It returns ErrUnknownCommand or ErrMalformed if it fails.
func Decode(entry []byte) ([]Command, error) {
	var e logv1.Entry
	if err := proto.Unmarshal(entry, &e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case e.GetFeatureLevel() > SupportedLevel:
		return nil, fmt.Errorf("%w (it has feature level %d, but this version supports only up to %d)", ErrUnknownCommand, e.GetFeatureLevel(), SupportedLevel)
	case e.GetFeatureLevel() == 0:
		return nil, fmt.Errorf("%w: no feature level", ErrMalformed)
	}
	cmds := make([]Command, len(e.GetCommands()))
	for i, c := range e.GetCommands() {
		var err error
		if cmds[i], err = commandFromProto(c); err != nil {
			return nil, fmt.Errorf("command %d: %w", i, err)
		}
		if need := Level(cmds[i]); need > e.GetFeatureLevel() {
			return nil, fmt.Errorf("%w: command %d (%T) requires feature level %d, but its entry has level %d", ErrMalformed, i, cmds[i], need, e.GetFeatureLevel())
		}
	}
	return cmds, nil
}

func commandToProto(cmd Command) (*logv1.Command, error) {
	var w writer
	out := &logv1.Command{}
	switch c := cmd.(type) {
	case Grant:
		out.Kind = &logv1.Command_Grant{Grant: &logv1.Grant{
			Semaphore: c.Semaphore, Identity: identityToProto(c.Identity), Weight: c.Weight, Firing: w.firing(c.Firing),
			RequestId: c.RequestID, Metadata: metadataToProto(c.Metadata), DefinitionVersion: c.DefinitionVersion,
			CordonRevision: c.CordonRevision, ExpectedRevision: c.ExpectedRevision, At: w.time(c.At), RequestRevision: c.RequestRevision,
			Supersedes: c.Supersedes, Replaces: c.Replaces, Worker: c.Worker,
		}}
	case Extend:
		out.Kind = &logv1.Command_Extend{Extend: &logv1.Extend{Token: c.Token, Duration: int64(c.Duration), Term: c.Term}}
	case Release:
		out.Kind = &logv1.Command_Release{Release: &logv1.Release{
			Token: c.Token, NotRun: c.Job == semaphore.JobNotRun, CutShort: c.Job == semaphore.JobCutShort, Cooling: int64(c.Cooling), At: w.time(c.At),
			Failed: c.Job == semaphore.JobFailed, Failure: c.Failure, Result: c.Result,
		}}
	case Expire:
		out.Kind = &logv1.Command_Expire{Expire: &logv1.Expire{
			Token: c.Token, Term: c.Term, Cooling: int64(c.Cooling), At: w.time(c.At),
		}}
	case Abandon:
		out.Kind = &logv1.Command_Abandon{Abandon: &logv1.Abandon{Token: c.Token, Term: c.Term, Cooling: int64(c.Cooling)}}
	case EndCooling:
		out.Kind = &logv1.Command_EndCooling{EndCooling: &logv1.EndCooling{Token: c.Token, Term: c.Term}}
	case Clear:
		out.Kind = &logv1.Command_Clear{Clear: &logv1.Clear{Token: c.Token, Author: c.Author, Reason: c.Reason, At: w.time(c.At)}}
	case Revoke:
		out.Kind = &logv1.Command_Revoke{Revoke: &logv1.Revoke{
			Token: c.Token, Author: c.Author, Reason: c.Reason, At: w.time(c.At), Drain: int64(c.Drain), UnsafeNow: c.UnsafeNow,
		}}
	case TakeOver:
		out.Kind = &logv1.Command_TakeOver{TakeOver: &logv1.TakeOver{Token: c.Token, By: identityToProto(c.By), Reason: c.Reason, At: w.time(c.At)}}
	case SubmitJob:
		if c.Spec == nil {
			return nil, errors.New("a job has no spec")
		}
		out.Kind = &logv1.Command_SubmitJob{SubmitJob: &logv1.SubmitJob{
			Spec: specToProto(c.Spec), Submitter: c.Submitter, Tasks: c.Tasks, Digest: []byte(c.Digest), At: w.time(c.At),
		}}
	case SubmitTasks:
		out.Kind = &logv1.Command_SubmitTasks{SubmitTasks: &logv1.SubmitTasks{
			Job: c.Job, Offset: c.Offset, Tasks: c.Tasks, Digest: []byte(c.Digest), At: w.time(c.At),
		}}
	case CancelJob:
		if c.Cause < work.CancelRequested || c.Cause > work.CancelSubmitterGone {
			return nil, fmt.Errorf("unknown cancel cause %d", c.Cause)
		}
		out.Kind = &logv1.Command_CancelJob{CancelJob: &logv1.CancelJob{
			Job: c.Job, Term: c.Term, Cause: uint32(c.Cause), Author: c.Author, Reason: c.Reason, At: w.time(c.At),
		}}
	case ChangeTasks:
		out.Kind = &logv1.Command_ChangeTasks{ChangeTasks: &logv1.ChangeTasks{Job: c.Job, Indexes: c.Indexes, Drop: c.Drop, AsOf: c.AsOf, At: w.time(c.At)}}
	case DeleteJob:
		out.Kind = &logv1.Command_DeleteJob{DeleteJob: &logv1.DeleteJob{Job: c.Job, Term: c.Term, At: w.time(c.At)}}
	case SetBinding:
		out.Kind = &logv1.Command_SetBinding{SetBinding: &logv1.SetBinding{
			Name: c.Name, Binding: w.binding(c.Binding), Expected: c.Expected, First: c.First, Author: c.Author, Reason: c.Reason, At: w.time(c.At),
		}}
	case IssueToken:
		out.Kind = &logv1.Command_IssueToken{IssueToken: &logv1.IssueToken{Binding: c.Binding, Token: w.token(c.Token), Reason: c.Reason}}
	case RevokeToken:
		out.Kind = &logv1.Command_RevokeToken{RevokeToken: &logv1.RevokeToken{Id: c.ID, Author: c.Author, Reason: c.Reason, At: w.time(c.At)}}
	case Cancel:
		out.Kind = &logv1.Command_Cancel{Cancel: &logv1.Cancel{
			Semaphore: c.Semaphore, Identity: identityToProto(c.Identity), RequestId: c.RequestID, Token: c.Token, Cooling: int64(c.Cooling),
		}}
	case EditBatch:
		out.Kind = &logv1.Command_EditBatch{EditBatch: &logv1.EditBatch{
			Changes: each(c.Changes, changeToProto), Author: c.Author, Reason: c.Reason, RequestId: c.RequestID, At: w.time(c.At),
			Drain: int64(c.Drain), Until: w.time(c.Until), RequestHash: c.RequestHash, RequestRevision: c.RequestRevision,
		}}
	case SetCordon:
		out.Kind = &logv1.Command_Cordon{Cordon: &logv1.Cordon{
			Id: c.ID, GroupPattern: c.GroupPattern, AcquirerPattern: c.AcquirerPattern, Until: w.time(c.Until),
			Author: c.Author, Reason: c.Reason, At: w.time(c.At), Drain: int64(c.Drain), RequestId: c.RequestID,
			RequestHash: c.RequestHash, RequestRevision: c.RequestRevision,
		}}
	case Uncordon:
		out.Kind = &logv1.Command_Uncordon{Uncordon: &logv1.Uncordon{
			Id: c.ID, Term: c.Term, Revision: c.Revision, Author: c.Author, Reason: c.Reason, At: w.time(c.At), RequestId: c.RequestID,
			RequestHash: c.RequestHash, RequestRevision: c.RequestRevision,
		}}
	case Pause:
		out.Kind = &logv1.Command_Pause{Pause: &logv1.Pause{
			Names: c.Names, Reason: c.Reason, Until: w.time(c.Until), Stop: c.Stop, Author: c.Author, At: w.time(c.At),
			Drain: int64(c.Drain), RequestId: c.RequestID, RequestHash: c.RequestHash, RequestRevision: c.RequestRevision, Keep: c.Keep,
			Expected: each(c.Expected, expectedToProto),
		}}
	case Resume:
		out.Kind = &logv1.Command_Resume{Resume: &logv1.Resume{
			Names: c.Names, Term: c.Term, Revision: c.Revision, Author: c.Author, Reason: c.Reason, At: w.time(c.At), RequestId: c.RequestID,
			RequestHash: c.RequestHash, RequestRevision: c.RequestRevision, Expected: each(c.Expected, expectedToProto),
		}}
	case Forget:
		out.Kind = &logv1.Command_Forget{Forget: &logv1.Forget{
			Semaphore: c.Semaphore, Term: c.Term, UpTo: w.time(c.UpTo), Names: c.Names,
			Firings: each(c.Firings, func(f semaphore.Firing) *logv1.Firing { return w.firing(&f) }),
		}}
	case Configure:
		out.Kind = &logv1.Command_Configure{Configure: &logv1.Configure{
			Settings: settingsToProto(c.Settings), Author: c.Author, Reason: c.Reason, At: w.time(c.At),
		}}
	case RetireMember:
		out.Kind = &logv1.Command_RetireMember{RetireMember: &logv1.RetireMember{Id: c.ID}}
	case RaiseFeatureLevel:
		out.Kind = &logv1.Command_RaiseFeatureLevel{RaiseFeatureLevel: &logv1.RaiseFeatureLevel{Level: c.Level}}
	case EndDrain:
		out.Kind = &logv1.Command_EndDrain{EndDrain: &logv1.EndDrain{
			Revision: c.Change, Term: c.Term, Names: c.Names, Cordon: c.Cordon, Token: c.Token, At: w.time(c.At),
		}}
	case Revert:
		out.Kind = &logv1.Command_Revert{Revert: &logv1.Revert{Revision: c.Change, Term: c.Term, Names: c.Names, At: w.time(c.At)}}
	case Sight:
		out.Kind = &logv1.Command_Sight{Sight: &logv1.Sight{Term: c.Term, Sightings: each(c.Sightings, w.sighting)}}
	case NoteMissed:
		out.Kind = &logv1.Command_NoteMissed{NoteMissed: &logv1.NoteMissed{
			Semaphore: c.Semaphore, Term: c.Term, Missed: uint32(c.Missed), Text: c.Text, At: w.time(c.At),
		}}
	case EndQuarantine:
		out.Kind = &logv1.Command_EndQuarantine{EndQuarantine: &logv1.EndQuarantine{Term: c.Term, At: w.time(c.At)}}
	case Undo:
		out.Kind = &logv1.Command_Undo{Undo: w.undo(c)}
	case Trim:
		out.Kind = &logv1.Command_Trim{Trim: &logv1.Trim{Term: c.Term, UpTo: c.UpTo, Names: c.Names}}
	case ForgetFirings:
		out.Kind = &logv1.Command_ForgetFirings{ForgetFirings: &logv1.ForgetFirings{
			Semaphore: c.Semaphore, Firings: each(c.Firings, w.expected), LowerTo: w.time(c.LowerTo), Author: c.Author, Reason: c.Reason,
			RequestId: c.RequestID, At: w.time(c.At), RequestHash: c.RequestHash, RequestRevision: c.RequestRevision,
		}}
	default:
		return nil, errors.New("not a command; pass the value, not a pointer")
	}
	return out, w.err
}

func commandFromProto(in *logv1.Command) (Command, error) {
	var r reader
	var cmd Command
	switch k := in.GetKind().(type) {
	case *logv1.Command_Grant:
		c := k.Grant
		cmd = Grant{
			Semaphore: c.GetSemaphore(), Identity: r.identity(c.GetIdentity()), Weight: c.GetWeight(), Firing: r.firing(c.GetFiring()),
			RequestID: c.GetRequestId(), Metadata: r.labels(c.GetMetadata()).Map(), DefinitionVersion: c.GetDefinitionVersion(),
			CordonRevision: c.GetCordonRevision(), ExpectedRevision: c.ExpectedRevision, At: timeFromProto(c.GetAt()), RequestRevision: c.GetRequestRevision(),
			Supersedes: c.GetSupersedes(), Replaces: c.GetReplaces(), Worker: c.GetWorker(),
		}
	case *logv1.Command_Extend:
		cmd = Extend{Token: k.Extend.GetToken(), Duration: duration(k.Extend.GetDuration()), Term: k.Extend.GetTerm()}
	case *logv1.Command_Release:
		c := k.Release
		cmd = Release{
			Token: c.GetToken(), Job: r.job(c), Failure: c.GetFailure(), Cooling: duration(c.GetCooling()), At: timeFromProto(c.GetAt()),
			Result: clipBytes(c.GetResult()),
		}
	case *logv1.Command_Expire:
		c := k.Expire
		cmd = Expire{Token: c.GetToken(), Term: c.GetTerm(), Cooling: duration(c.GetCooling()), At: timeFromProto(c.GetAt())}
	case *logv1.Command_Abandon:
		cmd = Abandon{Token: k.Abandon.GetToken(), Term: k.Abandon.GetTerm(), Cooling: duration(k.Abandon.GetCooling())}
	case *logv1.Command_EndCooling:
		cmd = EndCooling{Token: k.EndCooling.GetToken(), Term: k.EndCooling.GetTerm()}
	case *logv1.Command_Clear:
		c := k.Clear
		cmd = Clear{Token: c.GetToken(), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_Revoke:
		c := k.Revoke
		cmd = Revoke{
			Token: c.GetToken(), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt()),
			Drain: duration(c.GetDrain()), UnsafeNow: c.GetUnsafeNow(),
		}
	case *logv1.Command_TakeOver:
		c := k.TakeOver
		cmd = TakeOver{Token: c.GetToken(), By: r.identity(c.GetBy()), Reason: c.GetReason(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_SubmitJob:
		c := k.SubmitJob
		cmd = SubmitJob{
			Spec: r.spec(c.GetSpec()), Submitter: c.GetSubmitter(), Tasks: payloads(c.GetTasks()), Digest: string(c.GetDigest()),
			At: timeFromProto(c.GetAt()),
		}
	case *logv1.Command_SubmitTasks:
		c := k.SubmitTasks
		cmd = SubmitTasks{
			Job: c.GetJob(), Offset: c.GetOffset(), Tasks: payloads(c.GetTasks()), Digest: string(c.GetDigest()), At: timeFromProto(c.GetAt()),
		}
	case *logv1.Command_CancelJob:
		c := k.CancelJob
		cmd = CancelJob{
			Job: c.GetJob(), Term: c.GetTerm(), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt()),
			Cause: work.CancelCause(r.enum(c.GetCause(), uint32(work.CancelRequested), uint32(work.CancelSubmitterGone), "cancel cause")),
		}
	case *logv1.Command_ChangeTasks:
		c := k.ChangeTasks
		cmd = ChangeTasks{Job: c.GetJob(), Indexes: c.GetIndexes(), Drop: c.GetDrop(), AsOf: c.GetAsOf(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_DeleteJob:
		cmd = DeleteJob{Job: k.DeleteJob.GetJob(), Term: k.DeleteJob.GetTerm(), At: timeFromProto(k.DeleteJob.GetAt())}
	case *logv1.Command_Cancel:
		c := k.Cancel
		cmd = Cancel{
			Semaphore: c.GetSemaphore(), Identity: r.identity(c.GetIdentity()), RequestID: c.GetRequestId(),
			Token: c.GetToken(), Cooling: duration(c.GetCooling()),
		}
	case *logv1.Command_EditBatch:
		c := k.EditBatch
		cmd = EditBatch{
			Author: c.GetAuthor(), Reason: c.GetReason(), RequestID: c.GetRequestId(), At: timeFromProto(c.GetAt()),
			Drain: duration(c.GetDrain()), Until: timeFromProto(c.GetUntil()), RequestHash: c.GetRequestHash(), RequestRevision: c.GetRequestRevision(),
			Changes: each(c.GetChanges(), r.change),
		}
	case *logv1.Command_Cordon:
		c := k.Cordon
		cmd = SetCordon{
			ID: c.GetId(), GroupPattern: c.GetGroupPattern(), AcquirerPattern: c.GetAcquirerPattern(), Until: timeFromProto(c.GetUntil()),
			Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt()), Drain: duration(c.GetDrain()), RequestID: c.GetRequestId(),
			RequestHash: c.GetRequestHash(), RequestRevision: c.GetRequestRevision(),
		}
	case *logv1.Command_Uncordon:
		c := k.Uncordon
		cmd = Uncordon{
			ID: c.GetId(), Term: c.GetTerm(), Revision: c.GetRevision(), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt()),
			RequestID: c.GetRequestId(), RequestHash: c.GetRequestHash(), RequestRevision: c.GetRequestRevision(),
		}
	case *logv1.Command_Pause:
		c := k.Pause
		cmd = Pause{
			Names: c.GetNames(), Reason: c.GetReason(), Until: timeFromProto(c.GetUntil()), Stop: c.GetStop(),
			Author: c.GetAuthor(), At: timeFromProto(c.GetAt()), Drain: duration(c.GetDrain()), RequestID: c.GetRequestId(),
			RequestHash: c.GetRequestHash(), RequestRevision: c.GetRequestRevision(), Keep: c.GetKeep(),
			Expected: each(c.GetExpected(), expectedFromProto),
		}
	case *logv1.Command_Resume:
		c := k.Resume
		cmd = Resume{
			Names: c.GetNames(), Term: c.GetTerm(), Revision: c.GetRevision(), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt()),
			RequestID: c.GetRequestId(), RequestHash: c.GetRequestHash(), RequestRevision: c.GetRequestRevision(), Expected: each(c.GetExpected(), expectedFromProto),
		}
	case *logv1.Command_Forget:
		c := k.Forget
		cmd = Forget{
			Semaphore: c.GetSemaphore(), Term: c.GetTerm(), UpTo: timeFromProto(c.GetUpTo()), Names: c.GetNames(),
			Firings: each(c.GetFirings(), r.requiredFiring),
		}
	case *logv1.Command_SetBinding:
		c := k.SetBinding
		cmd = SetBinding{
			Name: c.GetName(), Binding: r.binding(c.GetBinding()), Expected: c.GetExpected(), First: c.GetFirst(),
			Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt()),
		}
	case *logv1.Command_IssueToken:
		c := k.IssueToken
		cmd = IssueToken{Binding: c.GetBinding(), Token: r.token(c.GetToken()), Reason: c.GetReason()}
	case *logv1.Command_RevokeToken:
		c := k.RevokeToken
		cmd = RevokeToken{ID: c.GetId(), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_Configure:
		c := k.Configure
		cmd = Configure{Settings: r.settings(c.GetSettings()), Author: c.GetAuthor(), Reason: c.GetReason(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_RetireMember:
		cmd = RetireMember{ID: k.RetireMember.GetId()}
	case *logv1.Command_RaiseFeatureLevel:
		if k.RaiseFeatureLevel.GetLevel() > SupportedLevel {
			return nil, fmt.Errorf("%w (the feature level was raised to %d, but this version supports only up to %d)",
				ErrUnknownCommand, k.RaiseFeatureLevel.GetLevel(), SupportedLevel)
		}
		cmd = RaiseFeatureLevel{Level: k.RaiseFeatureLevel.GetLevel()}
	case *logv1.Command_EndDrain:
		c := k.EndDrain
		cmd = EndDrain{
			Change: c.GetRevision(), Term: c.GetTerm(), Names: c.GetNames(), Cordon: c.GetCordon(), Token: c.GetToken(), At: timeFromProto(c.GetAt()),
		}
	case *logv1.Command_Revert:
		c := k.Revert
		cmd = Revert{Change: c.GetRevision(), Term: c.GetTerm(), Names: c.GetNames(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_Sight:
		cmd = Sight{Term: k.Sight.GetTerm(), Sightings: each(k.Sight.GetSightings(), sightingFromProto)}
	case *logv1.Command_NoteMissed:
		c := k.NoteMissed
		cmd = NoteMissed{Semaphore: c.GetSemaphore(), Term: c.GetTerm(), Missed: r.missed(c.GetMissed()), Text: c.GetText(), At: timeFromProto(c.GetAt())}
	case *logv1.Command_EndQuarantine:
		cmd = EndQuarantine{Term: k.EndQuarantine.GetTerm(), At: timeFromProto(k.EndQuarantine.GetAt())}
	case *logv1.Command_Undo:
		cmd = r.undo(k.Undo)
	case *logv1.Command_Trim:
		cmd = Trim{Term: k.Trim.GetTerm(), UpTo: k.Trim.GetUpTo(), Names: k.Trim.GetNames()}
	case *logv1.Command_ForgetFirings:
		c := k.ForgetFirings
		cmd = ForgetFirings{
			Semaphore: c.GetSemaphore(), Firings: each(c.GetFirings(), r.expected), LowerTo: timeFromProto(c.GetLowerTo()), Author: c.GetAuthor(),
			Reason: c.GetReason(), RequestID: c.GetRequestId(), At: timeFromProto(c.GetAt()), RequestHash: c.GetRequestHash(), RequestRevision: c.GetRequestRevision(),
		}
	default:
		return nil, ErrUnknownCommand
	}
	if r.err != nil {
		return nil, fmt.Errorf("%w: %T: %w", ErrMalformed, cmd, r.err)
	}
	return cmd, nil
}

// PlanID returns an id derived from a planned command's effects and expectations. Identical commands have the same id.
func PlanID(cmd Command) (string, error) {
	entry, err := Encode(SupportedLevel, []Command{cmd})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(entry)
	return hex.EncodeToString(sum[:8]), nil
}

func changeToProto(c Change) *logv1.Change {
	return &logv1.Change{Kind: uint32(c.Kind), Definition: definitionToProto(c.Definition), Name: c.Name, ExpectedVersion: c.ExpectedVersion}
}

func (r *reader) change(in *logv1.Change) Change {
	kind := ChangeKind(r.enum(in.GetKind(), uint32(Create), uint32(Declare), "change kind"))
	if (kind == Delete) != (in.GetDefinition() == nil) {
		r.fail("change of %q: every change except a deletion requires a definition", in.GetName())
	}
	return Change{Kind: kind, Name: in.GetName(), ExpectedVersion: in.GetExpectedVersion(), Definition: r.definition(in.GetDefinition())}
}

func (w *writer) undo(c Undo) *logv1.Undo {
	return &logv1.Undo{
		Change: c.Change, Author: c.Author, Reason: c.Reason, RequestId: c.RequestID, At: w.time(c.At), Drain: int64(c.Drain),
		RequestHash: c.RequestHash, RequestRevision: c.RequestRevision, Also: c.OtherChanges, Partial: c.Partial,
		Edits: each(c.Edits, func(e UndoEdit) *logv1.UndoEdit {
			return &logv1.UndoEdit{
				Change: changeToProto(e.Change), Pause: w.pause(e.Pause), RestoredEnds: each(e.RestoredEnds, w.end), RemovedEnds: e.RemovedEnds,
			}
		}),
		Pauses: each(c.Pauses, func(p UndoPause) *logv1.UndoPause {
			return &logv1.UndoPause{Pause: w.pause(p.Pause), Of: each(p.Expected, func(expected ExpectedPause) *logv1.ExpectedPause {
				return &logv1.ExpectedPause{Name: expected.Name, Revision: expected.Revision}
			})}
		}),
		Cordons: each(c.Cordons, func(o UndoCordon) *logv1.UndoCordon {
			return &logv1.UndoCordon{Id: o.ID, Expected: o.Expected, Cordon: w.cordon(o.Cordon)}
		}),
		Firings: each(c.Firings, func(f UndoFirings) *logv1.UndoFirings {
			return &logv1.UndoFirings{
				Semaphore: f.Semaphore, Back: each(f.Restore, w.claim), Forget: each(f.Forget, w.expected),
				LowWater: w.time(f.LowWater), ExpectedLowWater: w.time(f.ExpectedLowWater),
			}
		}),
	}
}

func (r *reader) undo(in *logv1.Undo) Undo {
	return Undo{
		Change: in.GetChange(), Author: in.GetAuthor(), Reason: in.GetReason(), RequestID: in.GetRequestId(), At: timeFromProto(in.GetAt()),
		Drain: duration(in.GetDrain()), RequestHash: in.GetRequestHash(), RequestRevision: in.GetRequestRevision(),
		OtherChanges: in.GetAlso(), Partial: in.GetPartial(),
		Edits: each(in.GetEdits(), func(e *logv1.UndoEdit) UndoEdit {
			return UndoEdit{
				Change: r.change(e.GetChange()), Pause: pauseFromProto(e.GetPause()), RestoredEnds: each(e.GetRestoredEnds(), r.endFromProto), RemovedEnds: e.GetRemovedEnds(),
			}
		}),
		Pauses: each(in.GetPauses(), func(p *logv1.UndoPause) UndoPause {
			return UndoPause{Pause: pauseFromProto(p.GetPause()), Expected: each(p.GetOf(), func(expected *logv1.ExpectedPause) ExpectedPause {
				return ExpectedPause{Name: expected.GetName(), Revision: expected.GetRevision()}
			})}
		}),
		Cordons: each(in.GetCordons(), func(o *logv1.UndoCordon) UndoCordon {
			return UndoCordon{ID: o.GetId(), Expected: o.GetExpected(), Cordon: cordonFromProto(o.GetCordon())}
		}),
		Firings: each(in.GetFirings(), func(f *logv1.UndoFirings) UndoFirings {
			return UndoFirings{
				Semaphore: f.GetSemaphore(), Restore: each(f.GetBack(), r.claim), Forget: each(f.GetForget(), r.expected),
				LowWater: timeFromProto(f.GetLowWater()), ExpectedLowWater: timeFromProto(f.GetExpectedLowWater()),
			}
		}),
	}
}
