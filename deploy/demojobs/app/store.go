package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/fence"
)

// store is what the jobs write to: an HTTP service that is fenced by the token of the writer's permit.
type store struct {
	address string
	http    http.Client
}

func newStore(address string) *store {
	return &store{address: address, http: http.Client{Transport: fence.Transport(nil, client.TokenOf), Timeout: 5 * time.Second}}
}

// write writes a step of a job, under the token of the permit in ctx. An error says that it was refused, or did not arrive.
func (s *store) write(ctx context.Context, job string, step int) error {
	target := "http://" + s.address + "/" + url.PathEscape(job)
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, target, strings.NewReader(strconv.Itoa(step)))
	if err != nil {
		return err
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusNoContent {
		err = fmt.Errorf("the store answers %s: %s", answer.Status, strings.TrimSpace(string(text)))
	}
	return err
}
