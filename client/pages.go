package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// maxPage is the largest page that a server gives.
const maxPage = 1000

// AllDefinitions reads the definitions that match req, in the order of their names, page after page. An error is the last element.
func (c *Client) AllDefinitions(ctx context.Context, req *gatekeeperv1.ListDefinitionsRequest) iter.Seq2[*gatekeeperv1.DefinitionRecord, error] {
	return pages(func(token string) ([]*gatekeeperv1.DefinitionRecord, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Definitions().ListDefinitions(ctx, page)
		return r.GetRecords(), r.GetNextPageToken(), err
	})
}

// AllHolders reads the permits that take slots, in the order of semaphore and token, page after page. An error is the last element.
func (c *Client) AllHolders(ctx context.Context, req *gatekeeperv1.ListHoldersRequest) iter.Seq2[*gatekeeperv1.Permit, error] {
	return pages(func(token string) ([]*gatekeeperv1.Permit, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Permits().ListHolders(ctx, page)
		return r.GetPermits(), r.GetNextPageToken(), err
	})
}

// AllWaiters reads the callers that wait, in the order of semaphore and place, page after page. An error is the last element.
func (c *Client) AllWaiters(ctx context.Context, req *gatekeeperv1.ListWaitersRequest) iter.Seq2[*gatekeeperv1.Waiter, error] {
	return pages(func(token string) ([]*gatekeeperv1.Waiter, string, error) {
		page := proto.CloneOf(req)
		page.PageSize, page.PageToken = maxPage, token
		r, err := c.Permits().ListWaiters(ctx, page)
		return r.GetWaiters(), r.GetNextPageToken(), err
	})
}

func pages[T any](read func(token string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for token := ""; ; {
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
