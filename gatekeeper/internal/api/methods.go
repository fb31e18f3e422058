package api

import (
	"fmt"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/admission"
	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/consensus"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// traits describe a method for admission and forwarding.
type traits struct {
	// kind determines the method's priority under load.
	kind admission.Kind
	// local means that each server answers calls to the method itself.
	local bool
	// leaderFirst means that the leader is preferred, but any server can answer. A follower is notified of a commit
	// with the next entry or up to about 100 ms later, but a watcher should see an edit immediately.
	leaderFirst bool
	// changesNothing means that a broken hop leaves no unknown outcome. An unanswered refresh counts as no refresh,
	// whether or not it was carried out.
	changesNothing bool
	// direct means that a member calls the method on its own behalf and does not forward it for other members.
	direct bool
}

// method describes a method for forwarding.
type method struct {
	traits
	clientStream bool // the client sends a stream of messages
	newRequest   func() proto.Message
	newReply     func() proto.Message
	// inferReply returns the response to a forwarded call that was cut off by a change of leadership, or nil if it
	// cannot be inferred from the old and new leaders. The function may be nil.
	inferReply func(req any, oldLeader, newLeader consensus.Leader) proto.Message
}

// servedLocally reports whether any server can answer a request. req is nil for streams.
func (m *method) servedLocally(req any) bool {
	if m.local {
		return true
	}
	stale, ok := req.(interface{ GetStale() bool })
	return ok && stale.GetStale()
}

// waitsForLeader reports whether calls are held while there is no leader. If only a few calls of a kind are admitted at
// a time, they are not held, because they would keep out calls that this server can answer itself. KeepAlive streams
// are not held either, because their clients need to try another server soon.
func (m *method) waitsForLeader() bool {
	return m.kind == admission.Ordinary || m.kind == admission.Waiting || m.kind == admission.Vital && !m.clientStream
}

// traitsOf returns the traits of a method. An unlisted method is Ordinary and may change something.
func traitsOf(fullMethod string) traits {
	switch fullMethod {
	case gatekeeperv1.PermitService_Acquire_FullMethodName,
		gatekeeperv1.WorkService_Work_FullMethodName:
		return traits{kind: admission.Waiting}
	case gatekeeperv1.WatchService_Watch_FullMethodName,
		gatekeeperv1.PermitService_AwaitFiring_FullMethodName,
		gatekeeperv1.WorkService_FollowJob_FullMethodName:
		return traits{kind: admission.Waiting, leaderFirst: true, changesNothing: true}
	case gatekeeperv1.PermitService_ListHolders_FullMethodName,
		gatekeeperv1.PermitService_ListWaiters_FullMethodName,
		gatekeeperv1.DefinitionService_ListDefinitions_FullMethodName,
		gatekeeperv1.DefinitionService_SummarizeDefinitions_FullMethodName,
		gatekeeperv1.OperatorService_Preview_FullMethodName,
		gatekeeperv1.OperatorService_ListHistory_FullMethodName,
		gatekeeperv1.OperatorService_ListKnown_FullMethodName,
		gatekeeperv1.OperatorService_ListFirings_FullMethodName,
		gatekeeperv1.OperatorService_ListDenied_FullMethodName,
		gatekeeperv1.WorkService_ListJobs_FullMethodName,
		gatekeeperv1.WorkService_ListTasks_FullMethodName,
		gatekeeperv1.WorkService_ListWorkers_FullMethodName,
		gatekeeperv1.ClusterService_SaveSnapshot_FullMethodName:
		return traits{kind: admission.Heavy, changesNothing: true}
	case gatekeeperv1.OperatorService_Move_FullMethodName:
		return traits{kind: admission.Heavy}
	case gatekeeperv1.WorkService_SubmitJob_FullMethodName:
		return traits{kind: admission.Batch} // most calls submit a single task, and one client may call from many goroutines
	case gatekeeperv1.DefinitionService_Explain_FullMethodName,
		gatekeeperv1.OperatorService_ListCordons_FullMethodName,
		gatekeeperv1.ClusterService_GetSettings_FullMethodName,
		gatekeeperv1.AuthService_WhoAmI_FullMethodName,
		gatekeeperv1.AuthService_CanI_FullMethodName,
		gatekeeperv1.AuthService_ListBindings_FullMethodName:
		return traits{kind: admission.Operator, changesNothing: true}
	case gatekeeperv1.PermitService_Revoke_FullMethodName,
		gatekeeperv1.PermitService_Clear_FullMethodName,
		gatekeeperv1.DefinitionService_CreateDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_ReplaceDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_DeleteDefinition_FullMethodName,
		gatekeeperv1.DefinitionService_BatchEdit_FullMethodName,
		gatekeeperv1.OperatorService_Pause_FullMethodName,
		gatekeeperv1.OperatorService_Resume_FullMethodName,
		gatekeeperv1.OperatorService_Cordon_FullMethodName,
		gatekeeperv1.OperatorService_Uncordon_FullMethodName,
		gatekeeperv1.OperatorService_ForgetFirings_FullMethodName,
		gatekeeperv1.OperatorService_Undo_FullMethodName,
		gatekeeperv1.WorkService_CancelJob_FullMethodName,
		gatekeeperv1.WorkService_RetryTasks_FullMethodName,
		gatekeeperv1.WorkService_DropTasks_FullMethodName,
		gatekeeperv1.WorkService_DeleteJob_FullMethodName,
		gatekeeperv1.ClusterService_AddMember_FullMethodName,
		gatekeeperv1.ClusterService_RemoveMember_FullMethodName,
		gatekeeperv1.ClusterService_TransferLeadership_FullMethodName,
		gatekeeperv1.ClusterService_SetSettings_FullMethodName,
		gatekeeperv1.AuthService_SetBinding_FullMethodName,
		gatekeeperv1.AuthService_RemoveBinding_FullMethodName,
		gatekeeperv1.AuthService_CreateToken_FullMethodName,
		gatekeeperv1.AuthService_RevokeToken_FullMethodName:
		return traits{kind: admission.Operator}
	case gatekeeperv1.AuthService_BindAdministrator_FullMethodName:
		return traits{kind: admission.Operator, direct: true}
	case gatekeeperv1.PermitService_KeepAlive_FullMethodName,
		gatekeeperv1.PermitService_Refresh_FullMethodName:
		return traits{kind: admission.Vital, changesNothing: true}
	case gatekeeperv1.ClusterService_GetStatus_FullMethodName:
		return traits{kind: admission.Vital, local: true}
	case gatekeeperv1.ClusterService_ListMembers_FullMethodName:
		return traits{kind: admission.Operator, local: true, changesNothing: true}
	case gatekeeperv1.PermitService_Release_FullMethodName,
		gatekeeperv1.PermitService_Cancel_FullMethodName,
		healthpb.Health_Check_FullMethodName,
		healthpb.Health_Watch_FullMethodName,
		healthpb.Health_List_FullMethodName:
		return traits{kind: admission.Vital}
	case gatekeeperv1.PermitService_BatchTryAcquire_FullMethodName:
		return traits{kind: admission.Batch, local: true, changesNothing: true} // the handler forwards the admitted requests
	case gatekeeperv1.PermitService_Verify_FullMethodName,
		gatekeeperv1.PermitService_CatchUp_FullMethodName,
		gatekeeperv1.DefinitionService_GetDefinition_FullMethodName,
		gatekeeperv1.WorkService_GetJob_FullMethodName:
		return traits{kind: admission.Ordinary, changesNothing: true}
	}
	return traits{kind: admission.Ordinary}
}

// methodsOf reads each method's message types from the descriptors.
func methodsOf(services ...*grpc.ServiceDesc) (map[string]*method, error) {
	methods := make(map[string]*method)
	for _, service := range services {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service.ServiceName))
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", service.ServiceName, err)
		}
		sd, ok := d.(protoreflect.ServiceDescriptor)
		if !ok {
			return nil, fmt.Errorf("%s is not a service", service.ServiceName)
		}
		for i := range sd.Methods().Len() {
			md := sd.Methods().Get(i)
			request, err := protoregistry.GlobalTypes.FindMessageByName(md.Input().FullName())
			if err != nil {
				return nil, fmt.Errorf("method %s: %w", md.FullName(), err)
			}
			reply, err := protoregistry.GlobalTypes.FindMessageByName(md.Output().FullName())
			if err != nil {
				return nil, fmt.Errorf("method %s: %w", md.FullName(), err)
			}
			name := fmt.Sprintf("/%s/%s", service.ServiceName, md.Name())
			methods[name] = &method{
				traits:       traitsOf(name),
				clientStream: md.IsStreamingClient(),
				newRequest:   func() proto.Message { return request.New().Interface() },
				newReply:     func() proto.Message { return reply.New().Interface() },
			}
		}
	}
	methods[gatekeeperv1.ClusterService_TransferLeadership_FullMethodName].inferReply = inferTransferReply
	return methods, nil
}
