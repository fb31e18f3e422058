package api

import (
	"context"
	"log/slog"
	"sync"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// Calls are refused where their goroutine begins, before their message is read, and not earlier in grpc.InTapHandle: gRPC forgets to end
// the context of a call that is refused there (operateHeaders in internal/transport/http2_server.go of 1.85), and so keeps some
// kilobytes of each until its deadline, which the caller chooses.

// kindOf is what a method is for, when many calls compete. What is not named here is Ordinary, also what is to come.
func kindOf(fullMethod string) admission.Kind {
	switch fullMethod {
	case gatekeeperv1.PermitService_Acquire_FullMethodName,
		gatekeeperv1.WatchService_Watch_FullMethodName:
		return admission.Waiting

	case gatekeeperv1.PermitService_ListHolders_FullMethodName,
		gatekeeperv1.PermitService_ListWaiters_FullMethodName,
		gatekeeperv1.DefinitionService_ListDefinitions_FullMethodName,
		gatekeeperv1.OperatorService_Preview_FullMethodName,
		gatekeeperv1.OperatorService_Move_FullMethodName,
		gatekeeperv1.OperatorService_ListHistory_FullMethodName,
		gatekeeperv1.OperatorService_ListKnown_FullMethodName,
		gatekeeperv1.OperatorService_ListFirings_FullMethodName,
		gatekeeperv1.OperatorService_ListDenied_FullMethodName:
		return admission.Heavy

	case gatekeeperv1.PermitService_Revoke_FullMethodName,
		gatekeeperv1.PermitService_Clear_FullMethodName,
		gatekeeperv1.DefinitionService_CreateDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_ReplaceDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_DeleteDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_BatchEdit_FullMethodName,
		gatekeeperv1.DefinitionService_Explain_FullMethodName,
		gatekeeperv1.OperatorService_Pause_FullMethodName,
		gatekeeperv1.OperatorService_Resume_FullMethodName,
		gatekeeperv1.OperatorService_Cordon_FullMethodName,
		gatekeeperv1.OperatorService_Uncordon_FullMethodName,
		gatekeeperv1.OperatorService_ListCordons_FullMethodName,
		gatekeeperv1.OperatorService_ForgetFirings_FullMethodName,
		gatekeeperv1.OperatorService_Undo_FullMethodName,
		gatekeeperv1.ClusterService_AddMember_FullMethodName,
		gatekeeperv1.ClusterService_RemoveMember_FullMethodName,
		gatekeeperv1.ClusterService_TransferLeadership_FullMethodName,
		gatekeeperv1.ClusterService_GetSettings_FullMethodName,
		gatekeeperv1.ClusterService_SetSettings_FullMethodName:
		return admission.Operator

	case gatekeeperv1.PermitService_KeepAlive_FullMethodName,
		gatekeeperv1.PermitService_Refresh_FullMethodName,
		gatekeeperv1.PermitService_Release_FullMethodName,
		gatekeeperv1.PermitService_Cancel_FullMethodName,
		gatekeeperv1.ClusterService_GetStatus_FullMethodName,
		healthpb.Health_Check_FullMethodName,
		healthpb.Health_Watch_FullMethodName,
		healthpb.Health_List_FullMethodName:
		return admission.Vital
	}
	return admission.Ordinary
}

// admit lets a call in or refuses it, before anything of it is read.
func (a *API) admit(ctx context.Context, kind admission.Kind) (*admission.Call, error) {
	call, err := a.cfg.Admission.Open(kind, connectionOf(ctx))
	if err != nil {
		a.overloads.note(ctx, a.cfg.Logger, err, admission.Identity{})
	}
	return call, err
}

// work begins the work of a call that was let in, once its message was read.
func (a *API) work(ctx context.Context, call *admission.Call, message any) error {
	var identity admission.Identity
	if m, ok := message.(interface {
		GetIdentity() *gatekeeperv1.Identity
	}); ok {
		id := identityFrom(m.GetIdentity())
		identity = admission.Identity{Group: id.Group, Acquirer: id.Acquirer}
	}
	err := call.Work(ctx, identity)
	if err != nil && ctx.Err() == nil {
		a.overloads.note(ctx, a.cfg.Logger, err, identity)
	}
	return err
}

// connectionOf tells the connections of clients apart; nil for one by which another member passes its clients' calls on. gRPC makes one
// peer.Peer for each connection and gives it to all calls on it.
func connectionOf(ctx context.Context) any {
	p, ok := peer.FromContext(ctx)
	if !ok || len(metadata.ValueFromIncomingContext(ctx, HopHeader)) > 0 {
		return nil
	}
	return p
}

// overloads warns of refusals, seldom: somebody who looks at the log is to see that there was an overload, when it began and how many
// calls it cost so far, and not each call of it. The last ones, after the last warning, are in the metrics only.
type overloads struct {
	mu      sync.Mutex // guards the fields below
	refused int        // since the last warning
	warned  time.Time
}

// warnEvery is how often at most refusals are told.
const warnEvery = 10 * time.Second

// note takes note of a refusal. The identity is empty if the call was refused before its message was read.
func (o *overloads) note(ctx context.Context, log *slog.Logger, err error, identity admission.Identity) {
	now := time.Now()
	o.mu.Lock()
	o.refused++
	refused := o.refused
	silent := !o.warned.IsZero() && now.Sub(o.warned) < warnEvery
	if !silent {
		o.refused, o.warned = 0, now
	}
	o.mu.Unlock()
	if silent {
		return
	}
	attrs := []slog.Attr{slog.Int("refused", refused), slog.String("last", err.Error())}
	if identity != (admission.Identity{}) {
		attrs = append(attrs, slog.String("group", identity.Group), slog.String("acquirer", identity.Acquirer))
	}
	if p, ok := peer.FromContext(ctx); ok {
		attrs = append(attrs, slog.String("from", p.Addr.String()))
	}
	log.LogAttrs(ctx, slog.LevelWarn, "calls were refused: more come than this server can do", attrs...)
}
