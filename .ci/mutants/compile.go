package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// goPackage holds the fields of go list's output that this tool uses.
type goPackage struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// compile type-checks every mutated package. Checking all of them takes a second, because their imports are already
// compiled. Building each one would take minutes.
func compile(ctx context.Context, root string, mutants []*mutant) error {
	dirs := make(map[string]bool)
	for _, m := range mutants {
		for _, dir := range m.packages() {
			dirs[dir] = true
		}
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,DepOnly"},
		slices.Sorted(maps.Keys(dirs))...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	byDir, exports := make(map[string]goPackage), make(map[string]string)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		byDir[p.Dir], exports[p.ImportPath] = p, p.Export
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var errs []error
	for _, m := range mutants {
		for _, dir := range m.packages() {
			if err := m.typecheck(root, byDir[filepath.Join(root, dir)], files, imports); err != nil {
				errs = append(errs, fmt.Errorf("%s.patch: does not compile: %w", m.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

func (m *mutant) typecheck(root string, p goPackage, files *token.FileSet, imports types.Importer) error {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		var mutated any // nil makes the parser read the file
		if relative, err := filepath.Rel(root, path); err != nil {
			return err
		} else if text, ok := m.files[filepath.ToSlash(relative)]; ok {
			mutated = text
		}
		f, err := parser.ParseFile(files, path, mutated, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		parsed = append(parsed, f)
	}
	_, err := (&types.Config{Importer: imports}).Check(p.ImportPath, files, parsed, nil)
	return err
}
