package api

import (
	"bufio"
	"context"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

func long(n int) string { return strings.Repeat("x", n) }

func testIdentity() *gatekeeperv1.Identity { return &gatekeeperv1.Identity{Acquirer: "host"} }

// badCall is an invalid call with the field and rule expected in the error.
type badCall struct {
	name     string
	call     func(context.Context, *gate) error
	field    string
	wantRule string
}

// unary returns a function that makes a unary call.
func unary[C, M, R any](
	service func(grpc.ClientConnInterface) C, method func(C, context.Context, M, ...grpc.CallOption) (R, error), m M,
) func(context.Context, *gate) error {
	return func(ctx context.Context, g *gate) error {
		_, err := method(service(g.conn), ctx, m)
		return err
	}
}

func tryAcquire(change func(*gatekeeperv1.TryAcquireRequest)) func(context.Context, *gate) error {
	m := &gatekeeperv1.TryAcquireRequest{Semaphore: "s", Identity: testIdentity(), Weight: 1}
	change(m)
	return unary(gatekeeperv1.NewPermitServiceClient, gatekeeperv1.PermitServiceClient.TryAcquire, m)
}

func createDefinition(change func(*gatekeeperv1.Definition)) func(context.Context, *gate) error {
	d := &gatekeeperv1.Definition{Name: "new"}
	change(d)
	return unary(gatekeeperv1.NewDefinitionServiceClient, gatekeeperv1.DefinitionServiceClient.CreateDefinition,
		&gatekeeperv1.CreateDefinitionRequest{Definition: d})
}

func batchEditCall(edits ...*gatekeeperv1.Edit) func(context.Context, *gate) error {
	return unary(gatekeeperv1.NewDefinitionServiceClient, gatekeeperv1.DefinitionServiceClient.BatchEdit,
		&gatekeeperv1.BatchEditRequest{Edits: edits})
}

func creation(d *gatekeeperv1.Definition) *gatekeeperv1.Edit {
	return &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: d}}
}

func refresh(tokens ...*gatekeeperv1.TokenRefresh) func(context.Context, *gate) error {
	return unary(gatekeeperv1.NewPermitServiceClient, gatekeeperv1.PermitServiceClient.Refresh, &gatekeeperv1.RefreshRequest{Tokens: tokens})
}

func keepAliveCall(frames ...*gatekeeperv1.KeepAliveRequest) func(context.Context, *gate) error {
	return func(ctx context.Context, g *gate) error {
		stream, err := g.permits.KeepAlive(ctx)
		if err != nil {
			return err
		}
		for _, f := range frames {
			if err := stream.Send(f); err != nil {
				break
			}
		}
		for {
			if _, err := stream.Recv(); err != nil {
				return err
			}
		}
	}
}

// streaming returns a function that opens a server stream and receives the first message.
func streaming[C, M, R any](
	service func(grpc.ClientConnInterface) C,
	method func(C, context.Context, M, ...grpc.CallOption) (grpc.ServerStreamingClient[R], error), m M,
) func(context.Context, *gate) error {
	return func(ctx context.Context, g *gate) error {
		stream, err := method(service(g.conn), ctx, m)
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
}

func acquire(m *gatekeeperv1.AcquireRequest) func(context.Context, *gate) error {
	return streaming(gatekeeperv1.NewPermitServiceClient, gatekeeperv1.PermitServiceClient.Acquire, m)
}

func watchCall(m *gatekeeperv1.WatchRequest) func(context.Context, *gate) error {
	return streaming(gatekeeperv1.NewWatchServiceClient, gatekeeperv1.WatchServiceClient.Watch, m)
}

func badPermitCalls() []badCall {
	type (
		req    = gatekeeperv1.TryAcquireRequest
		client = gatekeeperv1.PermitServiceClient
	)
	permits := gatekeeperv1.NewPermitServiceClient
	ok := &gatekeeperv1.TokenRefresh{Token: 1, Duration: durationpb.New(time.Second)}
	many := make([]*gatekeeperv1.TokenRefresh, maxTokens+1)
	for i := range many {
		many[i] = ok
	}
	metadata := make(map[string]string)
	for i := range 17 {
		metadata[strconv.Itoa(i)] = ""
	}
	return []badCall{
		{"no semaphore", tryAcquire(func(m *req) { m.Semaphore = "" }), "semaphore", "1 to 256 bytes"},
		{"semaphore of 257 bytes", tryAcquire(func(m *req) { m.Semaphore = long(257) }), "semaphore", "1 to 256 bytes, not 257"},
		{"semaphore that is a glob", tryAcquire(func(m *req) { m.Semaphore = "a*" }), "semaphore", "any of *?[]"},
		{"semaphore with a control character", tryAcquire(func(m *req) { m.Semaphore = "a\nb" }), "semaphore", "not contain control characters"},
		{"no identity", tryAcquire(func(m *req) { m.Identity = nil }), "identity.acquirer", "1 to 256 bytes"},
		{"group of 257 bytes", tryAcquire(func(m *req) { m.Identity.Group = long(257) }), "identity.group", "not 257"},
		{"acquirer of 257 bytes", tryAcquire(func(m *req) { m.Identity.Acquirer = long(257) }), "identity.acquirer", "not 257"},
		{"holder id of 257 bytes", tryAcquire(func(m *req) { m.Identity.HolderId = long(257) }), "identity.holder_id", "not 257"},
		{"weight of 1000001", tryAcquire(func(m *req) { m.Weight = 1_000_001 }), "weight", "1 to 1000000"},
		{"firing without name", tryAcquire(func(m *req) { m.Firing = &gatekeeperv1.Firing{} }), "firing.name", "1 to 256 bytes"},
		{"firing with an invalid due time", tryAcquire(func(m *req) {
			m.Firing = &gatekeeperv1.Firing{Name: "f", Due: &timestamppb.Timestamp{Nanos: -1}}
		}), "firing.due", "valid timestamp"},
		{"firing in the year 9000", tryAcquire(func(m *req) {
			m.Firing = &gatekeeperv1.Firing{Name: "f", Due: timestamppb.New(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC))}
		}), "firing.due", "must be"},
		{"request id of 129 bytes", tryAcquire(func(m *req) { m.RequestId = long(129) }), "request_id", "at most 128 bytes, not 129"},
		{"17 metadata entries", tryAcquire(func(m *req) { m.Metadata = metadata }), "metadata", "at most 16"},
		{"metadata value of 257 bytes", tryAcquire(func(m *req) { m.Metadata = map[string]string{"k": long(257)} }), "metadata.k", "not 257"},

		{"acquire without acquirer", acquire(&gatekeeperv1.AcquireRequest{Semaphore: "s"}), "identity.acquirer", "1 to 256"},
		{"acquire without a request id", acquire(&gatekeeperv1.AcquireRequest{Semaphore: "s", Identity: testIdentity()}), "request_id", "must be set"},
		{"a firing without a request id", tryAcquire(func(m *req) {
			m.Firing, m.RequestId = &gatekeeperv1.Firing{Name: "f"}, ""
		}), "request_id", "must be set for a firing"},
		{"acquire with a negative wait", acquire(&gatekeeperv1.AcquireRequest{
			Semaphore: "s", Identity: testIdentity(), RequestId: "r", WaitedBefore: durationpb.New(-1),
		}), "waited_before", "not be negative"},
		{"acquire with an invalid wait", acquire(&gatekeeperv1.AcquireRequest{
			Semaphore: "s", Identity: testIdentity(), RequestId: "r", WaitedBefore: &durationpb.Duration{Seconds: 1, Nanos: -1},
		}), "waited_before", "valid duration"},

		{"refresh without tokens", refresh(), "tokens", "at least one"},
		{"refresh of 10001 tokens", refresh(many...), "tokens", "at most 10000"},
		{"refresh of token 0", refresh(ok, ok, &gatekeeperv1.TokenRefresh{Duration: ok.Duration}), "tokens[2].token", "permit token"},
		{"refresh without duration", refresh(&gatekeeperv1.TokenRefresh{Token: 3}), "tokens[0].duration", "greater than 0"},
		{"refresh with an invalid duration", refresh(ok, &gatekeeperv1.TokenRefresh{Token: 3, Duration: &durationpb.Duration{Seconds: math.MaxInt64}}), "tokens[1].duration", "valid duration"},

		{"keep-alive that begins with frame 0", keepAliveCall(&gatekeeperv1.KeepAliveRequest{}), "frame", "must be 1"},
		{"keep-alive that skips a frame", keepAliveCall(&gatekeeperv1.KeepAliveRequest{Frame: 1}, &gatekeeperv1.KeepAliveRequest{Frame: 3}), "frame", "must be 2"},
		{"keep-alive of 10001 tokens", keepAliveCall(&gatekeeperv1.KeepAliveRequest{Frame: 1, Tokens: many}), "tokens", "at most 10000"},
		{"keep-alive of token 0", keepAliveCall(&gatekeeperv1.KeepAliveRequest{Frame: 1, Tokens: []*gatekeeperv1.TokenRefresh{{}}}), "tokens[0].token", "permit token"},
		{"keep-alive with a group of 10001 tokens", keepAliveCall(groupFrame(make([]uint64, maxTokens+1)...)), "groups", "at most 10000"},
		{"keep-alive of 10000 tokens and one in a group", keepAliveCall(&gatekeeperv1.KeepAliveRequest{
			Frame: 1, Tokens: frameOf(1, manyTokens()...).Tokens, Groups: groupFrame(1).Groups,
		}), "groups", "at most 10000"},
		{"keep-alive of 10001 empty groups", keepAliveCall(&gatekeeperv1.KeepAliveRequest{Frame: 1, Groups: make([]*gatekeeperv1.TokenGroup, maxTokens+1)}), "groups", "at most 10000"},
		{"keep-alive of token 0 in a group", keepAliveCall(groupFrame(3, 0)), "groups[0].tokens[1]", "permit token"},
		{"keep-alive of a group without duration", keepAliveCall(&gatekeeperv1.KeepAliveRequest{
			Frame: 1, Groups: []*gatekeeperv1.TokenGroup{{Tokens: []uint64{1}}},
		}), "groups[0].duration", "greater than 0"},
		{"keep-alive that forgets 10001 tokens", keepAliveCall(&gatekeeperv1.KeepAliveRequest{Frame: 1, Forget: make([]uint64, maxTokens+1)}), "forget", "at most 10000"},

		{"release of token 0", unary(permits, client.Release, &gatekeeperv1.ReleaseRequest{}), "token", "permit token"},
		{"release with an unknown outcome", unary(permits, client.Release, &gatekeeperv1.ReleaseRequest{Token: 1, Outcome: 9}), "outcome", "RELEASE_OUTCOME_DONE"},
		{"revoke of token 0", unary(permits, client.Revoke, &gatekeeperv1.RevokeRequest{}), "token", "permit token"},
		{"revoke by an author of 257 bytes", unary(permits, client.Revoke, &gatekeeperv1.RevokeRequest{Token: 1, Author: long(257)}), "author", "not 257"},
		{"clear with a reason of 1025 bytes", unary(permits, client.Clear, &gatekeeperv1.ClearRequest{Token: 1, Reason: long(1025)}), "reason", "at most 1024 bytes, not 1025"},
		{"clear with an escape sequence", unary(permits, client.Clear, &gatekeeperv1.ClearRequest{Token: 1, Reason: "\x1b[2J"}), "reason", "not contain control characters"},
		{"cancel without a request id", unary(permits, client.Cancel, &gatekeeperv1.CancelRequest{Semaphore: "s", Identity: testIdentity()}), "request_id", "must identify"},
		{"verify of token 0", unary(permits, client.Verify, &gatekeeperv1.VerifyRequest{Semaphore: "s"}), "token", "permit token"},
		{"verify with a glob", unary(permits, client.Verify, &gatekeeperv1.VerifyRequest{Semaphore: "a*", Token: 1}), "semaphore", "any of *?[]"},
		{"page of 1001", unary(permits, client.ListHolders, &gatekeeperv1.ListHoldersRequest{PageSize: 1001}), "page_size", "1 to 1000"},
		{"invalid page token", unary(permits, client.ListHolders, &gatekeeperv1.ListHoldersRequest{PageToken: "hello"}), "page_token", "unmodified"},
		{"waiters with an invalid glob", unary(permits, client.ListWaiters, &gatekeeperv1.ListWaitersRequest{Names: []string{"a", "b["}}), "names[1]", "is not closed by a ]"},
		{"waiters with 101 globs", unary(permits, client.ListWaiters, &gatekeeperv1.ListWaitersRequest{Names: make([]string, 101)}), "names", "at most 100"},
	}
}

func badDefinitionCalls() []badCall {
	type (
		def    = gatekeeperv1.Definition
		client = gatekeeperv1.DefinitionServiceClient
	)
	definitions := gatekeeperv1.NewDefinitionServiceClient
	labels := make(map[string]string)
	for i := range 65 {
		labels[strconv.Itoa(i)] = ""
	}
	many := make([]*gatekeeperv1.Edit, maxEdits+1)
	for i := range many {
		many[i] = creation(&def{Name: strconv.Itoa(i)})
	}
	return []badCall{
		{"no definition", unary(definitions, client.CreateDefinition, &gatekeeperv1.CreateDefinitionRequest{}), "definition", "must be set"},
		{"definition without name", createDefinition(func(d *def) { d.Name = "" }), "definition.name", "1 to 256 bytes"},
		{"name of 257 bytes", createDefinition(func(d *def) { d.Name = long(257) }), "definition.name", "not 257"},
		{"name that is a glob", createDefinition(func(d *def) { d.Name = "a?" }), "definition.name", "any of *?[]"},
		{"description of 4097 bytes", createDefinition(func(d *def) { d.Description = long(4097) }), "definition.description", "not 4097"},
		{"65 labels", createDefinition(func(d *def) { d.Labels = labels }), "definition.labels", "at most 64"},
		{"pattern of 513 bytes", createDefinition(func(d *def) { d.GroupPattern = new(long(513)) }), "definition.group_pattern", "512"},
		{"empty group pattern", createDefinition(func(d *def) { d.GroupPattern = new("") }), "definition.group_pattern", "must"},
		{"empty acquirer pattern", createDefinition(func(d *def) { d.AcquirerPattern = new("") }), "definition.acquirer_pattern", "must"},
		{"look-ahead", createDefinition(func(d *def) { d.AcquirerPattern = new("a(?=b)") }), "definition.acquirer_pattern", "look"},
		{"back-reference", createDefinition(func(d *def) { d.GroupPattern = new(`(a)\1`) }), "definition.group_pattern", "reference"},
		{"unbalanced pattern", createDefinition(func(d *def) { d.GroupPattern = new("a)(b") }), "definition.group_pattern", "must"},
		{"1000001 permits", createDefinition(func(d *def) { d.Permits = new(uint32(1_000_001)) }), "definition.permits", "0 to 1000000"},
		{"duration of 99 ms", createDefinition(func(d *def) { d.Duration = durationpb.New(99 * time.Millisecond) }), "definition.duration", "100ms to 1h"},
		{"duration above an hour", createDefinition(func(d *def) { d.Duration = durationpb.New(time.Hour + 1) }), "definition.duration", "100ms to 1h"},
		{"duration of 0", createDefinition(func(d *def) { d.Duration = durationpb.New(0) }), "definition.duration", "100ms to 1h"},
		{"invalid duration", createDefinition(func(d *def) { d.Duration = &durationpb.Duration{Seconds: 1, Nanos: -1} }), "definition.duration", "valid duration"},
		{"duration of 10000 years", createDefinition(func(d *def) { d.MaxHold = &durationpb.Duration{Seconds: 315_576_000_000} }), "definition.max_hold", "must be"},
		{"negative min_hold", createDefinition(func(d *def) { d.MinHold = durationpb.New(-1) }), "definition.min_hold", "must be"},
		{"loss_delay above an hour", createDefinition(func(d *def) { d.LossDelay = durationpb.New(2 * time.Hour) }), "definition.loss_delay", "0s to 1h"},
		{"unknown on_expiry", createDefinition(func(d *def) { d.OnExpiry = 7 }), "definition.on_expiry", "ON_EXPIRY_FREE"},
		{"negative firing_on_loss", createDefinition(func(d *def) { d.FiringOnLoss = -1 }), "definition.firing_on_loss", "FIRING_ON_LOSS_SPENT"},
		{"firing_retention of a second", createDefinition(func(d *def) { d.FiringRetention = durationpb.New(time.Second) }), "definition.firing_retention", "1m"},
		{"firing_limit of 0", createDefinition(func(d *def) { d.FiringLimit = new(uint32(0)) }), "definition.firing_limit", "1 to 100000"},
		{"firing_limit of 100001", createDefinition(func(d *def) { d.FiringLimit = new(uint32(100_001)) }), "definition.firing_limit", "1 to 100000"},

		{"replace without a version", unary(definitions, client.ReplaceDefinition, &gatekeeperv1.ReplaceDefinitionRequest{Definition: &def{Name: "there"}}), "expected_version", "read the definition first"},
		{"delete of a glob", unary(definitions, client.DeleteDefinition, &gatekeeperv1.DeleteDefinitionRequest{Name: "*", ExpectedVersion: 1}), "name", "any of *?[]"},
		{"get without a name", unary(definitions, client.GetDefinition, &gatekeeperv1.GetDefinitionRequest{}), "name", "1 to 256"},
		{"list with an invalid selector", unary(definitions, client.ListDefinitions, &gatekeeperv1.ListDefinitionsRequest{Labels: "team=data,zone in a"}), "labels", "at byte 18"},
		{"list with a long search", unary(definitions, client.ListDefinitions, &gatekeeperv1.ListDefinitionsRequest{Search: strings.Repeat("a", 257)}), "search", "at most 256"},
		{"list with a skip and a page token", unary(definitions, client.ListDefinitions, &gatekeeperv1.ListDefinitionsRequest{Skip: 1, PageToken: pageKey{name: "a"}.String()}), "skip", "must be 0"},
		{"summary with an invalid search", unary(definitions, client.SummarizeDefinitions, &gatekeeperv1.SummarizeDefinitionsRequest{Search: strings.Repeat("a", 257)}), "search", "at most 256"},
		{"watch with an invalid glob", watchCall(&gatekeeperv1.WatchRequest{Names: []string{""}}), "names[0]", "must not be empty"},
		{"explain without an acquirer", unary(definitions, client.Explain, &gatekeeperv1.ExplainRequest{Semaphore: "s"}), "identity.acquirer", "1 to 256"},

		{"empty batch", batchEditCall(), "edits", "1 to 10000"},
		{"batch of 10001 edits", batchEditCall(many...), "edits", "1 to 10000"},
		{"batch with an empty edit", batchEditCall(creation(&def{Name: "a"}), &gatekeeperv1.Edit{}), "edits[1]", "must specify"},
		{"batch with a bad duration", batchEditCall(
			creation(&def{Name: "a"}), creation(&def{Name: "b"}), creation(&def{Name: "c"}),
			creation(&def{Name: "d", Duration: durationpb.New(1)}),
		), "edits[3].create.duration", "100ms to 1h"},
		{"batch with a bad declaration", batchEditCall(&gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Declare{
			Declare: &def{Name: "a", GroupPattern: new("(")},
		}}), "edits[0].declare.group_pattern", "must"},
		{"batch that replaces without a version", batchEditCall(&gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Replace{
			Replace: &def{Name: "there"},
		}}), "edits[0].expected_version", "read the definition first"},
		{"batch that deletes a glob", batchEditCall(&gatekeeperv1.Edit{
			Change: &gatekeeperv1.Edit_Delete{Delete: "x*"}, ExpectedVersion: 1,
		}), "edits[0].delete", "any of *?[]"},
		{"batch that names a semaphore twice", batchEditCall(
			creation(&def{Name: "a"}), &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Delete{Delete: "a"}, ExpectedVersion: 1},
		), "edits[1].delete", "edits[0]"},
	}
}

func badClusterCalls() []badCall {
	type client = gatekeeperv1.ClusterServiceClient
	cluster := gatekeeperv1.NewClusterServiceClient
	add := func(id, address string) func(context.Context, *gate) error {
		return unary(cluster, client.AddMember, &gatekeeperv1.AddMemberRequest{Id: id, PeerAddress: address})
	}
	return []badCall{
		{"member without id", add("", "h:1"), "id", "1 to 64"},
		{"member id of 65 bytes", add(long(65), "h:1"), "id", "not 65"},
		{"member id with a slash", add("a/b", "h:1"), "id", "letters, digits"},
		{"member without address", add("a", ""), "peer_address", "host:port"},
		{"member without port", add("a", "host"), "peer_address", "host:port"},
		{"member at port 0", add("a", "host:0"), "peer_address", "1 to 65535"},
		{"member with a service name as the port", add("a", "host:http"), "peer_address", "1 to 65535"},
		{"member at the unspecified IPv4 address", add("a", "0.0.0.0:1"), "peer_address", "reach"},
		{"member at the unspecified IPv6 address", add("a", "[::]:1"), "peer_address", "reach"},
		{"removal without an id", unary(cluster, client.RemoveMember, &gatekeeperv1.RemoveMemberRequest{}), "id", "1 to 64"},
		{"transfer to an invalid id", unary(cluster, client.TransferLeadership, &gatekeeperv1.TransferLeadershipRequest{Id: "ä"}), "id", "letters, digits"},
	}
}

// Every error names the field, the value and the rule. The fake keeper panics if an invalid call reaches it.
func TestBadInput_EveryField_IsNamedInError(t *testing.T) {
	g := open(t)
	g.create("there")
	before := g.keeper.machine.State().Revision()
	for _, c := range slices.Concat(badPermitCalls(), badDefinitionCalls(), badClusterCalls(), badWorkCalls()) {
		t.Run(c.name, func(t *testing.T) {
			metadata := want(t, c.call(ctx(t), g), codes.InvalidArgument, "INVALID_FIELD")
			if metadata["field"] != c.field || !strings.Contains(metadata["rule"], c.wantRule) {
				t.Errorf("got field %q with rule %q, want field %q with a rule that contains %q", metadata["field"], metadata["rule"], c.field, c.wantRule)
			}
			if _, ok := metadata["value"]; !ok {
				t.Error("the metadata has no value")
			}
		})
	}
	if after := g.keeper.machine.State().Revision(); after != before {
		t.Errorf("refused calls changed the revision from %d to %d", before, after)
	}
}

// rawCodec sends rawBytes unchanged.
type rawCodec struct{ encoding.CodecV2 }

type rawBytes []byte

func (c rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	if raw, ok := v.(rawBytes); ok {
		return mem.BufferSlice{mem.SliceBuffer(raw)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// corrupt marshals a message and replaces the string BAD in it with invalid UTF-8.
func corrupt(t *testing.T, m proto.Message) rawBytes {
	t.Helper()
	b := must(proto.Marshal(m))(t)
	s := strings.Replace(string(b), "BAD", "B\xff\xfe", 1)
	if s == string(b) {
		t.Fatal("the message does not contain BAD")
	}
	return rawBytes(s)
}

func TestBadInput_InvalidUTF8_NamesTheField(t *testing.T) {
	g := open(t)
	raw := dial(t, g.address, insecureCreds(), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{encoding.GetCodecV2(encodingproto.Name)})))
	for field, c := range map[string]struct {
		method  string
		message proto.Message
	}{
		"semaphore": {gatekeeperv1.PermitService_TryAcquire_FullMethodName, &gatekeeperv1.TryAcquireRequest{Semaphore: "BAD"}},
		"identity.acquirer": {gatekeeperv1.PermitService_TryAcquire_FullMethodName, &gatekeeperv1.TryAcquireRequest{
			Semaphore: "s", Identity: &gatekeeperv1.Identity{Acquirer: "BAD"},
		}},
		"metadata.key": {gatekeeperv1.PermitService_TryAcquire_FullMethodName, &gatekeeperv1.TryAcquireRequest{Metadata: map[string]string{"BAD": ""}}},
		"edits[1].create.labels.value": {gatekeeperv1.DefinitionService_BatchEdit_FullMethodName, &gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{
			creation(&gatekeeperv1.Definition{Name: "a"}), creation(&gatekeeperv1.Definition{Name: "b", Labels: map[string]string{"k": "BAD"}}),
		}}},
		"names[2]": {gatekeeperv1.DefinitionService_ListDefinitions_FullMethodName, &gatekeeperv1.ListDefinitionsRequest{Names: []string{"a", "b", "BAD"}}},
	} {
		err := raw.Invoke(ctx(t), c.method, corrupt(t, c.message), new(gatekeeperv1.TryAcquireResponse))
		if metadata := want(t, err, codes.InvalidArgument, "INVALID_FIELD"); metadata["field"] != field || metadata["rule"] != "must be valid UTF-8" || metadata["value"] == "" {
			t.Errorf("got metadata %v, want field %s", metadata, field)
		}
	}

	stream := must(raw.NewStream(ctx(t), &grpc.StreamDesc{ServerStreams: true}, gatekeeperv1.PermitService_Acquire_FullMethodName))(t)
	if err := stream.SendMsg(corrupt(t, &gatekeeperv1.AcquireRequest{Semaphore: "BAD"})); err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	metadata := want(t, stream.RecvMsg(new(gatekeeperv1.AcquireResponse)), codes.InvalidArgument, "INVALID_FIELD")
	if metadata["field"] != "semaphore" {
		t.Errorf("stream: got metadata %v, want field semaphore", metadata)
	}
}

func TestBadInput_InvalidMessages_AreRefused(t *testing.T) {
	g := open(t)
	raw := dial(t, g.address, insecureCreds(), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{encoding.GetCodecV2(encodingproto.Name)})))
	for _, b := range []string{"\xff", "\x0a\x05ab", strings.Repeat("\x80", 20), "\x0b\x0c\x0c"} {
		err := raw.Invoke(ctx(t), gatekeeperv1.PermitService_TryAcquire_FullMethodName, rawBytes(b), new(gatekeeperv1.TryAcquireResponse))
		want(t, err, codes.InvalidArgument, "INVALID_FIELD")
	}
}

func TestBadInput_MessageAbove4MiB_IsTooLarge(t *testing.T) {
	g := open(t)
	err := createDefinition(func(d *gatekeeperv1.Definition) { d.Description = long(MaxMessage) })(ctx(t), g)
	want(t, err, codes.ResourceExhausted, "TOO_LARGE")

	err = createDefinition(func(d *gatekeeperv1.Definition) { d.Description = long(maxReceived) })(ctx(t), g)
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("message above gRPC's own limit: got %v, want ResourceExhausted", err)
	}
}

func TestBadInput_HugeHeader_IsRefused(t *testing.T) {
	g := open(t)
	c := withHeader(ctx(t), "x-huge", long(maxHeaders+1))
	if _, err := g.cluster.GetStatus(c, &gatekeeperv1.GetStatusRequest{}); status.Code(err) != codes.Internal {
		t.Fatalf("GetStatus() with a huge header: got %v, want Internal", err)
	}
}

// A connection that carries anything but gRPC is closed, and other connections are not affected.
func TestBadInput_NonGRPCBytes_CloseOnlyThatConnection(t *testing.T) {
	g := open(t)
	for name, bytes := range map[string]string{
		"HTTP/1":      "GET / HTTP/1.1\r\nHost: gatekeeper\r\n\r\n",
		"garbage":     strings.Repeat("\x00\xff\x13garbage", 1000),
		"TLS":         "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + long(600),
		"bad preface": "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
		"bad frames":  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + strings.Repeat("\xff", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			conn := must(net.Dial("tcp", g.address))(t)
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
				t.Fatal(err)
			}
			must(io.WriteString(conn, bytes))(t)
			if _, err := io.Copy(io.Discard, bufio.NewReader(conn)); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("the connection was not closed: %v", err)
			}
			if _, err := g.cluster.GetStatus(ctx(t), &gatekeeperv1.GetStatusRequest{}); err != nil {
				t.Fatalf("a call on another connection failed: %v", err)
			}
		})
	}
}

// FuzzExplainDecodeError checks that invalid messages are refused without a panic.
func FuzzExplainDecodeError(f *testing.F) {
	good, _ := proto.Marshal(&gatekeeperv1.BatchEditRequest{Edits: []*gatekeeperv1.Edit{creation(&gatekeeperv1.Definition{
		Name: "a", Labels: map[string]string{"k": "v"}, Duration: durationpb.New(time.Second),
	})}})
	f.Add(good)
	f.Add([]byte("\x0a\x03\x0a\x01\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := new(gatekeeperv1.BatchEditRequest)
		err := proto.Unmarshal(data, m)
		if err != nil && explainDecodeError(data, m, err) == nil {
			t.Fatal("explainDecodeError() = nil for bytes that are not a message")
		}
	})
}
