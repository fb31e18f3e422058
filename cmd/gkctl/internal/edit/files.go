package edit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gatekeeperd/gatekeeper/client/deffile"
	"github.com/gatekeeperd/gatekeeper/cmd/gkctl/internal/ui"
)

// fileFlags are -f, --prune and -l: files, folders, or - for standard input, and the labels of the definitions that may
// be deleted if no file has them.
type fileFlags struct {
	paths  []string
	prune  bool
	labels string
}

// register adds the flags; prune and labels are the help of those two.
func (f *fileFlags) register(cmd *cobra.Command, prune, labels string) {
	cmd.Flags().StringArrayVarP(&f.paths, "filename", "f", nil, "`FILE` of definitions, a folder of such files, or - for standard input; may be repeated")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json") // fails only if there is no such flag
	cmd.Flags().BoolVar(&f.prune, "prune", false, prune)
	ui.RegisterSelector(cmd, &f.labels, labels)
}

// read reads all files. A name that appears twice is an error.
func (f *fileFlags) read(in io.Reader) ([]*deffile.File, error) {
	switch {
	case f.prune && f.labels == "":
		return nil, ui.Usagef("--prune needs -l: the labels of the definitions that it may delete")
	case !f.prune && f.labels != "":
		return nil, ui.Usagef("-l needs --prune")
	case len(f.paths) == 0:
		return nil, ui.Usagef("give -f FILE, or -f - for standard input")
	}
	var files []*deffile.File
	first := make(map[string]string) // where each name appears first
	for _, path := range f.paths {
		names, err := expand(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			file, err := readFile(name, in)
			if err != nil {
				return nil, err
			}
			for i, e := range file.Entries {
				at := e.Position("name")
				if where, twice := first[e.Definition.GetName()]; twice {
					return nil, file.Errorf(i, "name", "the name %q is given twice: first at %s", e.Definition.GetName(), where)
				}
				first[e.Definition.GetName()] = fmt.Sprintf("%s:%d", file.Name, at.Line)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

// expand returns the files of a folder, or the file itself.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.IsDir() {
		return []string{path}, nil
	}
	if err != nil {
		return nil, unreadable(err)
	}
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		return nil, unreadable(err)
	}
	var names []string
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, &ui.CodeError{Code: ui.ExitBadInput, Err: fmt.Errorf("the folder %s has no file *.yaml, *.yml or *.json", path)}
	}
	return names, nil
}

// unreadable says which file cannot be read, and why. It leaves out the name of the system call.
func unreadable(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", e.Path, e.Err)
		if errors.Is(e.Err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: no such file", e.Path)
		}
	}
	return &ui.CodeError{Code: ui.ExitBadInput, Err: err}
}

func readFile(name string, in io.Reader) (*deffile.File, error) {
	var data []byte
	var err error
	if name == "-" {
		name = "standard input"
		data, err = io.ReadAll(in)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return deffile.Parse(name, data)
}
