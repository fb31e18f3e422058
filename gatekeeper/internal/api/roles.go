package api

import (
	"context"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
	"github.com/gatekeeperd/gatekeeper/semaphore/access"
)

// entitlement defines who may call a method at all. Access to a call's objects is checked where the call is executed:
// changes pass through guard, and reads omit objects that the caller may not view.
type entitlement struct {
	// anyOf lists roles. The caller needs one of them, on any semaphore. If empty, any principal is allowed.
	anyOf []access.Role
	// member also allows members that call on their own behalf.
	member bool
	// public allows every caller, even without credentials or a binding.
	public bool
	// preauthorized means that a forwarded call is not checked again, because the forwarding member has checked it.
	preauthorized bool
	// withoutBindings allows callers with a certificate while this server has no bindings. This lets a server that
	// cannot catch up, because a majority is lost, report its status.
	withoutBindings bool
}

// entitlements lists every method. An unlisted method is refused.
//
//nolint:gochecknoglobals // a table, never changed
var entitlements = func() map[string]entitlement {
	table := make(map[string]entitlement)
	add := func(e entitlement, methods ...string) {
		for _, m := range methods {
			table[m] = e
		}
	}
	needs := func(roles ...access.Role) entitlement { return entitlement{anyOf: roles} }
	add(needs(access.Viewer),
		gatekeeperv1.PermitService_ListHolders_FullMethodName,
		gatekeeperv1.PermitService_ListWaiters_FullMethodName,
		gatekeeperv1.PermitService_AwaitFiring_FullMethodName,
		gatekeeperv1.PermitService_CatchUp_FullMethodName,
		gatekeeperv1.DefinitionService_GetDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_ListDefinitions_FullMethodName,
		gatekeeperv1.DefinitionService_SummarizeDefinitions_FullMethodName,
		gatekeeperv1.DefinitionService_Explain_FullMethodName,
		gatekeeperv1.WatchService_Watch_FullMethodName,
		gatekeeperv1.OperatorService_Preview_FullMethodName,
		gatekeeperv1.OperatorService_ListHistory_FullMethodName,
		gatekeeperv1.OperatorService_ListKnown_FullMethodName,
		gatekeeperv1.OperatorService_ListFirings_FullMethodName,
		gatekeeperv1.OperatorService_ListDenied_FullMethodName,
		gatekeeperv1.OperatorService_ListCordons_FullMethodName,
		gatekeeperv1.WorkService_GetJob_FullMethodName,
		gatekeeperv1.WorkService_ListJobs_FullMethodName,
		gatekeeperv1.WorkService_ListTasks_FullMethodName,
		gatekeeperv1.WorkService_ListWorkers_FullMethodName,
		gatekeeperv1.WorkService_FollowJob_FullMethodName,
		gatekeeperv1.ClusterService_GetSettings_FullMethodName)
	add(needs(access.Acquirer),
		gatekeeperv1.PermitService_TryAcquire_FullMethodName,
		gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName,
		gatekeeperv1.PermitService_Acquire_FullMethodName,
		gatekeeperv1.PermitService_Refresh_FullMethodName,
		gatekeeperv1.PermitService_KeepAlive_FullMethodName,
		gatekeeperv1.PermitService_Release_FullMethodName,
		gatekeeperv1.PermitService_TakeOver_FullMethodName,
		gatekeeperv1.PermitService_Cancel_FullMethodName,
		gatekeeperv1.WorkService_SubmitJob_FullMethodName,
		gatekeeperv1.WorkService_Work_FullMethodName)
	add(needs(access.Verifier, access.Acquirer), gatekeeperv1.PermitService_Verify_FullMethodName)
	add(needs(access.Operator),
		gatekeeperv1.PermitService_Revoke_FullMethodName,
		gatekeeperv1.PermitService_Clear_FullMethodName,
		gatekeeperv1.OperatorService_Pause_FullMethodName,
		gatekeeperv1.OperatorService_Resume_FullMethodName,
		gatekeeperv1.OperatorService_Move_FullMethodName,
		gatekeeperv1.OperatorService_Cordon_FullMethodName,
		gatekeeperv1.OperatorService_Uncordon_FullMethodName,
		gatekeeperv1.OperatorService_ForgetFirings_FullMethodName)
	add(needs(access.Operator, access.Acquirer), // a submitter may change its own jobs
		gatekeeperv1.WorkService_CancelJob_FullMethodName,
		gatekeeperv1.WorkService_RetryTasks_FullMethodName,
		gatekeeperv1.WorkService_DropTasks_FullMethodName,
		gatekeeperv1.WorkService_DeleteJob_FullMethodName)
	add(needs(access.Editor, access.Operator, access.Acquirer), // see mayEdit
		gatekeeperv1.DefinitionService_CreateDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_ReplaceDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_DeleteDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_BatchEdit_FullMethodName,
		gatekeeperv1.OperatorService_Undo_FullMethodName)
	add(needs(access.Admin),
		gatekeeperv1.ClusterService_RemoveMember_FullMethodName,
		gatekeeperv1.ClusterService_TransferLeadership_FullMethodName,
		gatekeeperv1.ClusterService_SetSettings_FullMethodName,
		gatekeeperv1.ClusterService_SaveSnapshot_FullMethodName,
		gatekeeperv1.AuthService_ListBindings_FullMethodName,
		gatekeeperv1.AuthService_SetBinding_FullMethodName,
		gatekeeperv1.AuthService_RemoveBinding_FullMethodName,
		gatekeeperv1.AuthService_CreateToken_FullMethodName,
		gatekeeperv1.AuthService_RevokeToken_FullMethodName)
	add(entitlement{anyOf: []access.Role{access.Admin}, member: true},
		gatekeeperv1.ClusterService_AddMember_FullMethodName,
		gatekeeperv1.AuthService_BindAdministrator_FullMethodName) // the handler accepts members only
	add(entitlement{member: true, preauthorized: true, withoutBindings: true}, gatekeeperv1.ClusterService_GetStatus_FullMethodName)
	add(entitlement{withoutBindings: true}, gatekeeperv1.ClusterService_ListMembers_FullMethodName)
	add(needs(), // any principal
		gatekeeperv1.AuthService_WhoAmI_FullMethodName,
		gatekeeperv1.AuthService_CanI_FullMethodName,
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
	add(entitlement{public: true, member: true},
		healthpb.Health_Check_FullMethodName, healthpb.Health_Watch_FullMethodName, healthpb.Health_List_FullMethodName)
	return table
}()

// authorizeCall refuses a call executed on this server if the caller has no role for the method.
func (a *API) authorizeCall(ctx context.Context, fullMethod string) error {
	c := a.caller(ctx)
	if c == nil {
		return nil
	}
	e, listed := entitlements[fullMethod]
	switch {
	case !listed:
		return &forbiddenError{c.credential.String(), access.Admin, "to call an unlisted method"}
	case e.public, c.member && e.member, c.via != "" && e.preauthorized:
		return nil
	case e.withoutBindings && c.verified && a.cfg.Machine.State().AccessRevision() == 0:
		return nil
	case fullMethod == gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName && !a.forward.isLeader():
		return nil // the handler forwards it, and the leader checks
	}
	if err := c.admit(); err != nil {
		return err
	}
	_, err := c.authorize(ctx, hasRole(e.anyOf...))
	return err
}
