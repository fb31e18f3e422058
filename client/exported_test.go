package client

import (
	"cmp"
	"flag"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/exported")

// publicPackages lists the packages whose package comments promise compatibility.
var publicPackages = []string{".", "contexts", "cron", "deffile", "fence", "gktest", "gocron", "tasks", "weighted", "work", "../gatekeeper"}

// Changes to exported declarations must be deliberate, because they can break programs after the first release.
func TestPublicPackages_ExportListedDeclarations(t *testing.T) {
	t.Parallel()
	for _, dir := range publicPackages {
		name, got := exportedDecls(t, dir)
		file := filepath.Join("testdata", "exported", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := must(os.ReadFile(file))(t)
		if d := diff.Diff(string(want), got); d != "" {
			t.Errorf("exported declarations of package %s differ from %s (-want +got); to accept the changes, run go test ./client -run TestPublicPackages -update:\n%s", name, file, d)
		}
	}
}

// exportedDecls returns the name of a package and its exported declarations, sorted and without comments, function
// bodies or variable values.
func exportedDecls(t *testing.T, dir string) (pkgName, text string) {
	t.Helper()
	pkg := must(build.ImportDir(dir, 0))(t)
	fset := token.NewFileSet()
	var all []string
	for _, name := range pkg.GoFiles {
		file := must(parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution))(t)
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && !exportedReceiver(d.Recv.List[0].Type) {
					continue
				}
				d.Body = nil
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						v.Values = nil
						v.Type = cmp.Or(v.Type, ast.Expr(ast.NewIdent("error"))) // all exported variables without a type are errors
					}
				}
			}
			var b strings.Builder
			if err := printer.Fprint(&b, fset, d); err != nil {
				t.Fatal(err)
			}
			all = append(all, strings.ReplaceAll(b.String(), "\n\n", "\n")) // blank lines left by removed comments
		}
	}
	slices.Sort(all)
	return pkg.Name, strings.Join(all, "\n") + "\n"
}

// exportedReceiver reports whether the receiver's type is exported.
func exportedReceiver(receiver ast.Expr) bool {
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}
