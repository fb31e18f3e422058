package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/gatekeeperd/gatekeeper/client/fence"
)

// book inserts an invoice in the caller's transaction.
func book(ctx context.Context, tx *sql.Tx, token uint64) error {
	if err := (fence.SQL{}).Check(ctx, tx, "billing", token); err != nil { // call Check before the first write
		return err
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO invoices (customer) VALUES ($1)", "a customer")
	return err
}

func ExampleSQL_Check() {
	var tx *sql.Tx
	err := book(context.Background(), tx, 0) // a job without a permit has no token
	fmt.Println(errors.Is(err, fence.ErrNoToken))
	// Output: true
}

func ExampleSQL_Schema() {
	fmt.Println(fence.DefaultTable)
	fmt.Println(fence.SQL{Table: "tokens"}.Schema())
	// Output:
	// gatekeeper_fence
	// CREATE TABLE IF NOT EXISTS tokens (resource VARCHAR(512) PRIMARY KEY, token BIGINT NOT NULL)
}

func ExampleSQL_Store() {
	var db *sql.DB // PostgreSQL or SQLite
	if db == nil {
		return // package sqltest covers both
	}
	if err := (fence.SQL{}).Create(context.Background(), db); err != nil {
		fmt.Println(err)
	}
	fence.Handler(http.NotFoundHandler(), fence.WithStore(fence.SQL{}.Store(db)))
}

// inMemory is a Store that does not survive a restart. A durable Store must write to disk before Raise returns.
type inMemory struct {
	mu     sync.Mutex // guards newest
	newest map[string]uint64
}

func (m *inMemory) Raise(_ context.Context, resource string, token uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if newest := m.newest[resource]; token < newest {
		return &fence.StaleError{Resource: resource, Token: token, Newest: newest}
	}
	m.newest[resource] = token
	return nil
}

func ExampleStore() {
	var store fence.Store = &inMemory{newest: map[string]uint64{}}
	fmt.Println(store.Raise(context.Background(), "", 8)) // before the service restarts
	handler := fence.Handler(http.NotFoundHandler(), fence.WithStore(store))

	r := httptest.NewRequest(http.MethodPut, "/export", http.NoBody)
	r.Header.Set(fence.Header, "7")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	fmt.Println(w.Code == http.StatusPreconditionFailed)
	// Output:
	// <nil>
	// true
}
