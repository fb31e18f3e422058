package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"github.com/gatekeeperd/gatekeeper/internal/nearest"
)

// envPrefix begins every variable that is ours.
const envPrefix = "GATEKEEPER_"

// environment is what the process was started in.
type environment struct {
	variables []string // NAME=value
	root      bool
}

func (e environment) get(name string) string {
	for _, v := range slices.Backward(e.variables) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// load sets what flags did not set: from variables, then from the configuration file, so that flags come before variables
// before the file before defaults.
func load(flags *pflag.FlagSet, e environment) error {
	variables := koanf.New("\x00") // keys do not nest
	err := variables.Load(env.Provider("", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return e.variables },
		TransformFunc: func(name, value string) (string, any) {
			if e.foreign(name) {
				return "", nil
			}
			return name, value
		},
	}), nil)
	if err != nil {
		return usage("read the environment: %w", err)
	}
	if err := overlay(flags, variables, variableOf, ""); err != nil {
		return err
	}
	path := flags.Lookup("config").Value.String()
	if path == "" {
		return nil
	}
	keys := koanf.New("\x00")
	if err := keys.Load(file.Provider(path), yaml.Parser()); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return usage("configuration file: %w", err)
		}
		return usage("configuration file %s: %w", path, err)
	}
	return overlay(flags, keys, func(flag string) string { return flag }, path+": ")
}

// variableOf is the variable of a flag.
func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// overlay sets the flags that have a value in k and were not set before. keyOf is the key of a flag; where begins each error.
func overlay(flags *pflag.FlagSet, k *koanf.Koanf, keyOf func(flag string) string, where string) error {
	byKey := make(map[string]*pflag.Flag)
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if where != "" && f.Name == "config" {
			return // a configuration file does not name another
		}
		byKey[keyOf(f.Name)] = f
		known = append(known, keyOf(f.Name))
	})
	values := k.Raw()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		f, ok := byKey[key]
		if !ok {
			return usage("%sunknown %s%s", where, name(where, key), suggestion(key, known))
		}
		if f.Changed {
			continue
		}
		if err := set(flags, f, values[key]); err != nil {
			return usage("%s%s: %w", where, key, err)
		}
	}
	return nil
}

func name(where, key string) string {
	if where == "" {
		return "variable " + key
	}
	return fmt.Sprintf("key %q", key)
}

func suggestion(unknown string, known []string) string {
	if word := nearest.Word(unknown, known); word != "" {
		return "; did you mean " + word + "?"
	}
	return ": known are " + strings.Join(known, ", ")
}

// set gives a flag the value that a file or a variable has for it.
func set(flags *pflag.FlagSet, f *pflag.Flag, value any) error {
	switch v := value.(type) {
	case string:
		if _, err := strconv.ParseBool(v); err != nil && f.Value.Type() == "bool" {
			return fmt.Errorf("must be true or false, not %q", v)
		}
		return flags.Set(f.Name, v)
	case bool:
		if f.Value.Type() == "bool" {
			return flags.Set(f.Name, strconv.FormatBool(v))
		}
	case int:
		if strings.Contains(f.Value.Type(), "int") {
			return flags.Set(f.Name, strconv.Itoa(v))
		}
	case []any:
		list, ok := f.Value.(pflag.SliceValue)
		if !ok {
			return errors.New("must be one value, not a list")
		}
		words := make([]string, len(v))
		for i, element := range v {
			if words[i], ok = element.(string); !ok {
				return fmt.Errorf("must be a list of texts: put %v into quotes", element)
			}
		}
		f.Changed = true
		return list.Replace(words)
	case nil:
		return errors.New("has no value: leave the key out to have its default")
	case map[string]any:
		return errors.New("must be a value, not keys and values")
	}
	if f.Value.Type() == "duration" {
		return fmt.Errorf("%v has no unit: write for example %vs", value, value)
	}
	return fmt.Errorf("must be text: put %v into quotes", value)
}

// kubernetesService matches the variables that Kubernetes makes in every pod for a service whose name begins with
// gatekeeper: they are not ours, although their names look so.
var kubernetesService = regexp.MustCompile(
	`^GATEKEEPER_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

func (e environment) foreign(variable string) bool {
	return e.get("KUBERNETES_SERVICE_HOST") != "" && kubernetesService.MatchString(variable)
}
