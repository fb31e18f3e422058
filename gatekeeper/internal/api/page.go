package api

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/gatekeeperd/gatekeeper/gatekeeper/internal/selector"
)

const (
	defaultPage = 100
	maxPage     = 1000
	// pageBytes limits the size of a page. Clients accept messages of 4 MiB by default, and a record can take about 40
	// KiB.
	pageBytes = 2 << 20
	// maxPageToken is the maximum length of a page token, which encodes a name and two numbers.
	maxPageToken = 512
)

// pageSize returns the requested number of records per page.
func pageSize(requested uint32) (int, error) {
	switch {
	case requested == 0:
		return defaultPage, nil
	case requested > maxPage:
		return 0, invalid("page_size", strconv.FormatUint(uint64(requested), 10), "must be 1 to "+strconv.Itoa(maxPage)+", or 0 for "+strconv.Itoa(defaultPage))
	}
	return int(requested), nil
}

// page counts the records and bytes of a response.
type page struct{ records, bytes int }

// add adds a record if it fits on the page and reports whether it does. The first record always fits.
func (p *page) add(limit int, record proto.Message) bool {
	size := proto.Size(record)
	if p.records > 0 && (p.records == limit || p.bytes+size > pageBytes) {
		return false
	}
	p.records++
	p.bytes += size
	return true
}

// pageKey identifies the last record on a page, after which the next page starts. The fields in use depend on the list:
// definitions use only the name, permits use the name and the token, and waiters use all fields, with a sequence number
// as the token.
type pageKey struct {
	name  string
	token uint64
	rank  int64
}

// pageTokenVersion is the first byte of a decoded page token.
const pageTokenVersion = 1

// String returns the page token, which is opaque to clients.
func (k pageKey) String() string {
	b := binary.AppendVarint(binary.AppendUvarint([]byte{pageTokenVersion}, k.token), k.rank)
	return base64.RawURLEncoding.EncodeToString(append(b, k.name...))
}

// parsePageToken is the inverse of String. An empty token means the first page.
func parsePageToken(s string) (pageKey, error) {
	if s == "" {
		return pageKey{}, nil
	}
	invalidToken := invalid("page_token", s, "must be the unmodified next_page_token of the previous page")
	if len(s) > maxPageToken {
		return pageKey{}, invalidToken
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) == 0 || b[0] != pageTokenVersion {
		return pageKey{}, invalidToken
	}
	b = b[1:]
	token, n := binary.Uvarint(b)
	if n <= 0 {
		return pageKey{}, invalidToken
	}
	b = b[n:]
	rank, n := binary.Varint(b)
	if n <= 0 || len(b) == n {
		return pageKey{}, invalidToken
	}
	return pageKey{name: string(b[n:]), token: token, rank: rank}, nil
}

// pageFrom reads a request's page size and page token.
func pageFrom(m interface {
	GetPageSize() uint32
	GetPageToken() string
}) (limit int, from pageKey, err error) {
	if limit, err = pageSize(m.GetPageSize()); err != nil {
		return 0, pageKey{}, err
	}
	from, err = parsePageToken(m.GetPageToken())
	return limit, from, err
}

// listFrom reads the fields common to list requests. The selector excludes semaphores that the caller may not view.
func (a *API) listFrom(ctx context.Context, m interface {
	GetNames() []string
	GetLabels() string
	GetPageSize() uint32
	GetPageToken() string
}) (chosen *selector.Selector, limit int, from pageKey, err error) {
	if chosen, err = selector.Parse("", m.GetNames(), m.GetLabels()); err != nil {
		return nil, 0, pageKey{}, err
	}
	limit, from, err = pageFrom(m)
	return chosen.Within(a.viewFilter(ctx)), limit, from, err
}
