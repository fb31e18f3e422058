package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gatekeeperd/gatekeeper/client/fence"
)

// export updates the day's total, fenced by its permit's token.
func export(ctx context.Context, db *sql.DB, token uint64, day string, total int) error {
	err := fence.SQL{}.Do(ctx, db, "nightly-export", token, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE totals SET total = $1 WHERE day = $2", total, day)
		return err
	})
	if stale, ok := errors.AsType[*fence.StaleError](err); ok {
		return fmt.Errorf("another holder has taken over: %w", stale) // nothing was written
	}
	return err
}

func ExampleSQL_Do() {
	var db *sql.DB // PostgreSQL or SQLite, with the table from fence.SQL{}.Schema()
	if db == nil {
		return // package sqltest covers both
	}
	fmt.Println(export(context.Background(), db, 7, "2026-06-01", 42))
}

func ExampleHandler() {
	storage := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fmt.Println("written") })

	handler := fence.Handler(storage, fence.WithResource(func(r *http.Request) string {
		return r.URL.Path // the name of the data that one semaphore guards
	}))

	for _, token := range []string{"7", "8", "7"} { // the last request is from the previous holder
		r := httptest.NewRequest(http.MethodPut, "/export", http.NoBody)
		r.Header.Set(fence.Header, token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Print(w.Body)
	}
	// Output:
	// written
	// written
	// token 7 for "/export" is stale: token 8 has been seen, so another holder has taken over; stop writing
}
