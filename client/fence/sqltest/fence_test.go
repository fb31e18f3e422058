package sqltest

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/gatekeeperd/gatekeeper/client/fence"
)

func TestSQLite(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+t.TempDir()+"/fence.db?_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	suite(t, db, "INTEGER PRIMARY KEY AUTOINCREMENT")
}

// suite runs the tests that every database must pass. key declares an auto-increment column.
func suite(t *testing.T, db *sql.DB, key string) {
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	var f fence.SQL
	for range 2 { // the second time, the table exists
		if err := f.Create(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE written (id "+key+", resource VARCHAR(64), token BIGINT)"); err != nil {
		t.Fatal(err)
	}
	write := func(resource string, token uint64) error {
		return f.Do(t.Context(), db, resource, token, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), "INSERT INTO written (resource, token) VALUES ($1, $2)", resource, int64(token))
			return err
		})
	}
	written := func(resource string) (tokens []uint64) {
		rows, err := db.QueryContext(t.Context(), "SELECT token FROM written WHERE resource = $1 ORDER BY id", resource)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var token uint64
			if err := rows.Scan(&token); err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, token)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return tokens
	}

	t.Run("OlderToken_IsRejectedAndWritesNothing", func(t *testing.T) {
		for _, token := range []uint64{7, 7, 9} {
			if err := write("a", token); err != nil {
				t.Fatal(err)
			}
		}
		stale, ok := errors.AsType[*fence.StaleError](write("a", 8))
		if !ok || stale.Newest != 9 || stale.Token != 8 || stale.Resource != "a" {
			t.Errorf("write with token 8 = %v, want a StaleError with the newest token 9", stale)
		}
		if err := write("b", 1); err != nil { // another resource
			t.Error(err)
		}
		if got := written("a"); len(got) != 3 {
			t.Errorf("tokens written = %v, want 3", got)
		}
	})

	t.Run("MissingOrInvalidToken_IsRejected", func(t *testing.T) {
		if err := write("c", 0); !errors.Is(err, fence.ErrNoToken) {
			t.Errorf("write without a token = %v, want ErrNoToken", err)
		}
		if err := write("c", 1<<63); err == nil {
			t.Error("a token that does not fit in a BIGINT was accepted")
		}
	})

	t.Run("FailedWrite_IsRolledBack", func(t *testing.T) {
		failed := errors.New("failed")
		err := f.Do(t.Context(), db, "d", 5, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(t.Context(), "INSERT INTO written (resource, token) VALUES ('d', 5)"); err != nil {
				return err
			}
			return failed
		})
		if !errors.Is(err, failed) || len(written("d")) != 0 {
			t.Errorf("Do = %v, want the callback's error; tokens written = %v, want none", err, written("d"))
		}
	})

	t.Run("ConcurrentHolders_WriteInTokenOrder", func(t *testing.T) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 20 {
					err := write("e", 1+rand.Uint64N(1000))
					if _, stale := errors.AsType[*fence.StaleError](err); err != nil && !stale {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		tokens := written("e")
		if len(tokens) == 0 {
			t.Error("nothing was written")
		}
		for i := 1; i < len(tokens); i++ {
			if tokens[i] < tokens[i-1] {
				t.Fatalf("token %d was written after token %d", tokens[i], tokens[i-1])
			}
		}
	})

	t.Run("Store_OutlivesTheHandler", func(t *testing.T) {
		for _, step := range []struct {
			token uint64
			want  int
		}{{5, 204}, {4, 412}, {6, 204}} {
			h := fence.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
				fence.WithStore(f.Store(db)), fence.WithResource(func(*http.Request) string { return "f" }))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", nil)
			r.Header.Set(fence.Header, strconv.FormatUint(step.token, 10))
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != step.want {
				t.Errorf("status with token %d = %d %s, want %d", step.token, w.Code, w.Body, step.want)
			}
		}
	})
}
