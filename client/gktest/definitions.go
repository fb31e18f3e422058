package gktest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/gatekeeperd/gatekeeper/client"
	"github.com/gatekeeperd/gatekeeper/client/deffile"
	gatekeeperv1 "github.com/gatekeeperd/gatekeeper/proto/gatekeeper/v1"
)

// author is recorded as the author of every edit.
const author = "gktest"

// Define creates the given definitions in a single edit, and replaces any that already exist.
func (s *Server) Define(t testing.TB, definitions ...*gatekeeperv1.Definition) {
	t.Helper()
	s.do(t, "define", func(ctx context.Context) error {
		req := &gatekeeperv1.BatchEditRequest{Author: author, RequestId: client.NewRequestID()}
		for _, d := range definitions {
			edit := &gatekeeperv1.Edit{Change: &gatekeeperv1.Edit_Create{Create: d}}
			got, err := s.ops.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: d.GetName()})
			if err == nil {
				edit.Change, edit.ExpectedVersion = &gatekeeperv1.Edit_Replace{Replace: d}, got.GetRecord().GetVersion()
			} else if !errors.As(err, new(*client.NoSuchDefinitionError)) {
				return err
			}
			req.Edits = append(req.Edits, edit)
		}
		_, err := s.ops.Definitions().BatchEdit(ctx, req)
		return err
	})
}

// DefineFile is like Define, but reads the definitions from a file, as gkctl apply and gatekeeperd do. Use it to test
// your production definitions.
func (s *Server) DefineFile(t testing.TB, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("gktest: define: %v", err)
	}
	file, err := deffile.Parse(path, data)
	if err != nil {
		t.Fatalf("gktest: define: %v", err)
	}
	s.Define(t, file.Definitions()...)
}

// Edit changes a definition as an operator would. Holders that it no longer admits must stop.
func (s *Server) Edit(t testing.TB, name string, change func(*gatekeeperv1.Definition)) {
	t.Helper()
	s.do(t, "edit "+name, func(ctx context.Context) error {
		got, err := s.ops.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: name})
		if err != nil {
			return err
		}
		change(got.GetRecord().GetDefinition())
		_, err = s.ops.Definitions().ReplaceDefinition(ctx, &gatekeeperv1.ReplaceDefinitionRequest{
			Definition: got.GetRecord().GetDefinition(), ExpectedVersion: got.GetRecord().GetVersion(), Author: author, RequestId: client.NewRequestID(),
		})
		return err
	})
}

// Delete deletes a definition. Its holders must stop.
func (s *Server) Delete(t testing.TB, name string) {
	t.Helper()
	s.do(t, "delete "+name, func(ctx context.Context) error {
		got, err := s.ops.Definitions().GetDefinition(ctx, &gatekeeperv1.GetDefinitionRequest{Name: name})
		if err != nil {
			return err
		}
		_, err = s.ops.Definitions().DeleteDefinition(ctx, &gatekeeperv1.DeleteDefinitionRequest{
			Name: name, ExpectedVersion: got.GetRecord().GetVersion(), Author: author, RequestId: client.NewRequestID(),
		})
		return err
	})
}

// do runs f, which calls the server. It fails the test if the server is stopped or f returns an error.
func (s *Server) do(t testing.TB, what string, f func(ctx context.Context) error) {
	t.Helper()
	s.mu.Lock()
	stopped := s.server == nil
	s.mu.Unlock()
	if stopped {
		t.Fatalf("gktest: %s: the server is stopped: call Restart first", what)
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	if err := f(ctx); err != nil {
		t.Fatalf("gktest: %s: %v", what, err)
	}
}
