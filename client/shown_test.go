package client

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// unused lists the exported symbols that no example uses, with the reason for each. Methods such as Error, Unwrap and
// Is need not be listed, because examples call them implicitly.
var unused = map[string]string{}

// Every exported symbol of the client and its adapters must be used in an Example function or in a helper that an
// example calls. Symbols that need a testing.TB may be used by a test in an example file.
func TestExamples_UseEveryExportedSymbol(t *testing.T) {
	const root = "github.com/gatekeeperd/gatekeeper/client"
	dirs := []string{".", "cron", "deffile", "fence", "gktest", "gocron", "tasks", "weighted", "work"}
	fset := token.NewFileSet()
	imports := newImporter(t, fset)
	used := map[string]bool{}
	for _, dir := range dirs {
		recordUses(t, used, fset, imports, dir)
	}
	for _, dir := range dirs {
		pkg := must(imports.Import(path.Join(root, dir)))(t)
		for _, s := range symbols(pkg) {
			switch reason := unused[s]; {
			case used[s] && reason != "":
				t.Errorf("an example uses %s: remove it from unused", s)
			case !used[s] && reason == "":
				t.Errorf("no example uses %s", s)
			}
		}
	}
}

// newImporter returns an importer for the packages of this module and their dependencies. The importer reads the
// compiler's export data.
func newImporter(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-test", "-f", "{{if .Export}}{{.ImportPath}}\t{{.Export}}{{end}}", "./...")
	out := must(list.Output())(t)
	files := map[string]string{} // includes test variants ("PATH [TEST]"), which are never imported
	for _, line := range strings.Split(string(out), "\n") {
		if path, file, ok := strings.Cut(line, "\t"); ok {
			files[path] = file
		}
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// symbols returns the exported names of pkg; methods are named Type.Method.
func symbols(pkg *types.Package) (names []string) {
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		qualified := pkg.Name() + "." + name
		names = append(names, qualified)
		named, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() && !isStandardMethod(m.Name()) {
				names = append(names, qualified+"."+m.Name())
			}
		}
		if i, ok := named.Underlying().(*types.Interface); ok {
			for m := range i.ExplicitMethods() {
				if m.Exported() {
					names = append(names, qualified+"."+m.Name())
				}
			}
		}
	}
	return names
}

// isStandardMethod reports whether package fmt, errors or grpc calls the method.
func isStandardMethod(method string) bool {
	return method == "String" || method == "Error" || method == "Unwrap" || method == "Is" || method == "GRPCStatus"
}

// recordUses records the symbols that the examples in dir use. An expression counts as a use of its type.
func recordUses(t *testing.T, used map[string]bool, fset *token.FileSet, imports types.Importer, dir string) {
	t.Helper()
	names := must(filepath.Glob(filepath.Join(dir, "example*_test.go")))(t)
	var files []*ast.File
	for _, name := range names {
		f := must(parser.ParseFile(fset, name, nil, parser.SkipObjectResolution))(t)
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	must((&types.Config{Importer: imports}).Check(dir+"_test", fset, files, info))(t)
	for _, body := range reachable(files, info) {
		ast.Inspect(body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && info.Uses[id] != nil {
				recordUse(used, info.Uses[id])
			}
			if e, ok := n.(ast.Expr); ok && info.TypeOf(e) != nil {
				if named := namedType(info.TypeOf(e)); named != nil {
					recordUse(used, named.Obj())
				}
			}
			return true
		})
	}
}

// reachable returns the bodies of the examples and of the helpers they call.
func reachable(files []*ast.File, info *types.Info) (bodies []*ast.BlockStmt) {
	helpers := map[types.Object]*ast.BlockStmt{}
	for _, f := range files {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				if strings.HasPrefix(f.Name.Name, "Example") || strings.HasPrefix(f.Name.Name, "Test") {
					bodies = append(bodies, f.Body)
				} else {
					helpers[info.Defs[f.Name]] = f.Body
				}
			}
		}
	}
	for i := 0; i < len(bodies); i++ { // bodies grows during the loop
		ast.Inspect(bodies[i], func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && helpers[info.Uses[id]] != nil {
				bodies = append(bodies, helpers[info.Uses[id]])
				delete(helpers, info.Uses[id])
			}
			return true
		})
	}
	return bodies
}

// recordUse records o if it is a package-level symbol or a method.
func recordUse(used map[string]bool, o types.Object) {
	if o.Pkg() == nil {
		return
	}
	name := o.Pkg().Name() + "."
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		if named := namedType(f.Signature().Recv().Type()); named != nil {
			name += named.Obj().Name() + "."
		}
	} else if o.Parent() != o.Pkg().Scope() { // a field or a local variable
		return
	}
	used[name+o.Name()] = true
}

// namedType returns the named type that typ is or points to, or nil.
func namedType(typ types.Type) *types.Named {
	if p, ok := typ.(*types.Pointer); ok {
		typ = types.Unalias(p.Elem())
	}
	named, _ := typ.(*types.Named)
	return named
}
