package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// errNoAddress is the error for a member whose API address is unknown.
var errNoAddress = errors.New("its API address is not known to any server")

// MemberStatus is the status of a member, as reported by that member.
type MemberStatus struct {
	// Endpoint is the address that was queried; empty if the member's API address is unknown.
	Endpoint string
	// Member is the member's entry, as reported by its peers; nil if no peer that responded lists it.
	Member *gatekeeperv1.Member
	// Status is the member's response; nil if Err is set.
	Status *gatekeeperv1.GetStatusResponse
	Err    error
}

// Members requests the status of every endpoint, and of every other member listed in the responses. It calls each one
// directly, exactly once. The result is sorted by member id, then by endpoint. Members that do not respond have an Err.
// If no member responds, the error is an *UnauthenticatedError if one of the members cannot identify the caller, or an
// *UnavailableError otherwise.
func (c *Client) Members(ctx context.Context, req *gatekeeperv1.GetStatusRequest) ([]MemberStatus, error) {
	statuses := c.queryAll(ctx, req, c.router.addresses())
	var more []string
	for _, s := range slices.Clone(statuses) {
		for _, m := range s.Status.GetMembers() {
			address := m.GetApiAddress()
			if address == "" || slices.Contains(more, withPort(address)) || responded(statuses, m.GetId()) {
				continue
			}
			more = append(more, withPort(address))
		}
	}
	more = slices.DeleteFunc(more, func(a string) bool {
		return slices.ContainsFunc(statuses, func(s MemberStatus) bool { return s.Endpoint == a })
	})
	statuses = append(statuses, c.queryAll(ctx, req, more)...)
	failure := new(UnavailableError)
	reached := false
	for _, s := range statuses {
		if reached = reached || s.Err == nil; s.Err != nil {
			failure.add(s.Endpoint, s.Err)
		}
	}
	if !reached {
		for _, s := range statuses {
			if _, unauthenticated := errors.AsType[*UnauthenticatedError](s.Err); unauthenticated {
				return statuses, s.Err
			}
		}
		failure.Ended = ctx.Err()
		return statuses, failure
	}
	return mergeMembers(statuses), nil
}

// queryAll queries all addresses concurrently, once each.
func (c *Client) queryAll(ctx context.Context, req *gatekeeperv1.GetStatusRequest, addresses []string) []MemberStatus {
	all := make([]MemberStatus, len(addresses))
	var group sync.WaitGroup
	for i, address := range addresses {
		all[i].Endpoint = address
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, c.settings.attemptTimeout)
			defer cancel()
			conn, err := c.router.conn(address)
			if err != nil {
				all[i].Err = err
				return
			}
			s, err := gatekeeperv1.NewClusterServiceClient(conn).GetStatus(ctx, req)
			if err != nil {
				all[i].Err = typed(ctx, conn.handshakes.explain(err))
				return
			}
			all[i].Status = s
		})
	}
	group.Wait()
	return all
}

func responded(statuses []MemberStatus, id string) bool {
	return slices.ContainsFunc(statuses, func(s MemberStatus) bool { return s.Status.GetId() == id })
}

// mergeMembers merges the responses with the members they list, so that each member has one entry.
func mergeMembers(statuses []MemberStatus) []MemberStatus {
	members := make(map[string]*gatekeeperv1.Member)
	newest := uint64(0)
	for _, s := range statuses { // the view with the highest term is the newest
		if s.Status == nil || s.Status.GetTerm() < newest {
			continue
		}
		newest = s.Status.GetTerm()
		for _, m := range s.Status.GetMembers() {
			members[m.GetId()] = m
		}
	}
	var all []MemberStatus
	for _, s := range statuses {
		if id := s.Status.GetId(); id != "" {
			if slices.ContainsFunc(all, func(o MemberStatus) bool { return o.Status.GetId() == id }) {
				continue // two endpoints of the same member
			}
			s.Member = members[id]
			delete(members, id)
		} else {
			for id, m := range members {
				if m.GetApiAddress() != "" && withPort(m.GetApiAddress()) == s.Endpoint {
					s.Member = m
					delete(members, id)
				}
			}
		}
		all = append(all, s)
	}
	for _, m := range members { // its API address is unknown
		all = append(all, MemberStatus{Member: m, Err: errNoAddress})
	}
	slices.SortFunc(all, func(a, b MemberStatus) int {
		return cmp.Or(strings.Compare(a.ID(), b.ID()), strings.Compare(a.Endpoint, b.Endpoint))
	})
	return all
}

// ID returns the member's id; empty if it is unknown.
func (s *MemberStatus) ID() string {
	if s.Status != nil {
		return s.Status.GetId()
	}
	return s.Member.GetId()
}
