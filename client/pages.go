package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxPage is the largest page that a server returns. The iterators below use this page size, and start at the request's
// page token.
const maxPage = 1000

// AllDefinitions reads the definitions that match req, sorted by name, page by page. An error is yielded last.
func (c *Client) AllDefinitions(ctx context.Context, req *gatekeeperv1.ListDefinitionsRequest) iter.Seq2[*gatekeeperv1.DefinitionRecord, error] {
	return pages(req.GetPageToken(), func(token string) ([]*gatekeeperv1.DefinitionRecord, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Definitions().ListDefinitions(ctx, page)
		return r.GetRecords(), r.GetNextPageToken(), err
	})
}

// AllHolders reads the permits that occupy slots, sorted by semaphore and token, page by page. An error is yielded
// last.
func (c *Client) AllHolders(ctx context.Context, req *gatekeeperv1.ListHoldersRequest) iter.Seq2[*gatekeeperv1.Permit, error] {
	return pages(req.GetPageToken(), func(token string) ([]*gatekeeperv1.Permit, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Permits().ListHolders(ctx, page)
		return r.GetPermits(), r.GetNextPageToken(), err
	})
}

// AllWaiters reads the waiters, sorted by semaphore and place, page by page. An error is yielded last. For waiting
// tasks, see WaitingTasks.
func (c *Client) AllWaiters(ctx context.Context, req *gatekeeperv1.ListWaitersRequest) iter.Seq2[*gatekeeperv1.Waiter, error] {
	return pages(req.GetPageToken(), func(token string) ([]*gatekeeperv1.Waiter, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Permits().ListWaiters(ctx, page)
		return r.GetWaiters(), r.GetNextPageToken(), err
	})
}

// WaitingTasks returns the jobs that have tasks waiting for a worker on the semaphores that match req. They are sorted
// by semaphore, and then in the order in which their tasks are handed out. At most 1000 are returned, and none if the
// request specifies a group.
func (c *Client) WaitingTasks(ctx context.Context, req *gatekeeperv1.ListWaitersRequest) ([]*gatekeeperv1.WaitingTasks, error) {
	first := proto.CloneOf(req)
	first.PageSize, first.PageToken = 1, "" // only the first page contains them
	r, err := c.Permits().ListWaiters(ctx, first)
	return r.GetTasks(), err
}

// AllDenied reads the callers that were denied for reasons that waiting does not fix, sorted by semaphore, page by
// page. An error is yielded last.
func (c *Client) AllDenied(ctx context.Context, req *gatekeeperv1.ListDeniedRequest) iter.Seq2[*gatekeeperv1.DeniedCaller, error] {
	return pages(req.GetPageToken(), func(token string) ([]*gatekeeperv1.DeniedCaller, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Operator().ListDenied(ctx, page)
		return r.GetCallers(), r.GetNextPageToken(), err
	})
}

// pages reads from the page with the given token to the last one.
func pages[T any](token string, read func(token string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for token := token; ; {
			items, next, err := read(token)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if token = next; token == "" {
				return
			}
		}
	}
}
