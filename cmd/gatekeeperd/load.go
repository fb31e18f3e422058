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

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/gatekeeperd/gatekeeper/internal/nearest"
)

// envPrefix is the prefix of gatekeeperd's environment variables.
const envPrefix = "GATEKEEPER_"

// environment is the process's environment.
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

// load sets the options that were not set by flags, first from environment variables and then from the configuration
// file. Flags therefore take precedence over variables, variables over the file, and the file over defaults.
func load(flags *pflag.FlagSet, e environment) error {
	variables := koanf.New("\x00") // keys are not nested
	err := variables.Load(env.Provider("", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: func() []string { return e.variables },
		TransformFunc: func(name, value string) (string, any) {
			if e.isKubernetesVariable(name) {
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
	if err := keys.Load(file.Provider(path), textParser{}); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return usage("configuration file: %w", err)
		}
		return usage("configuration file %s: %w", path, err)
	}
	return overlay(flags, keys, func(flag string) string { return flag }, path+": ")
}

// variableOf returns the name of a flag's environment variable.
func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// overlay sets the flags that have a value in k and have not been set yet. keyOf returns a flag's key. where is
// prepended to every error.
func overlay(flags *pflag.FlagSet, k *koanf.Koanf, keyOf func(flag string) string, where string) error {
	byKey := make(map[string]*pflag.Flag)
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if where != "" && f.Name == "config" {
			return // a configuration file cannot refer to another one
		}
		byKey[keyOf(f.Name)] = f
		known = append(known, keyOf(f.Name))
	})
	values := k.Raw()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		f, ok := byKey[key]
		if !ok {
			return usage("%sunknown %s%s", where, describeKey(where, key), suggestion(key, known))
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

func describeKey(where, key string) string {
	if where == "" {
		return "variable " + key
	}
	return fmt.Sprintf("key %q", key)
}

func suggestion(unknown string, known []string) string {
	if word := nearest.Word(unknown, known); word != "" {
		return "; did you mean " + word + "?"
	}
	return "; valid names are " + strings.Join(known, ", ")
}

// textParser is a koanf parser that keeps the literal text of each value, including numbers and booleans, and leaves
// parsing to the flag.
type textParser struct{}

// Unmarshal implements koanf.Parser.
func (textParser) Unmarshal(data []byte) (map[string]any, error) {
	var nodes map[string]yaml.Node
	if err := yaml.Unmarshal(data, &nodes); err != nil {
		return nil, err
	}
	values := make(map[string]any, len(nodes))
	for key, node := range nodes {
		values[key] = text(&node)
	}
	return values, nil
}

// Marshal implements koanf.Parser. It is never used.
func (textParser) Marshal(map[string]any) ([]byte, error) { return nil, errors.ErrUnsupported }

// text converts a scalar to a string, a list to a list of converted values, a mapping to an empty map, and null to nil.
func text(node *yaml.Node) any {
	switch {
	case node.Kind == yaml.AliasNode:
		return text(node.Alias)
	case node.Kind == yaml.MappingNode:
		return map[string]any{}
	case node.Kind == yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, element := range node.Content {
			list[i] = text(element)
		}
		return list
	case node.ShortTag() == "!!null":
		return nil
	}
	return node.Value
}

// set sets a flag to a value from a file or an environment variable.
func set(flags *pflag.FlagSet, f *pflag.Flag, value any) error {
	switch v := value.(type) {
	case string:
		return setText(flags, f, v)
	case []any:
		list, ok := f.Value.(pflag.SliceValue)
		if !ok {
			return errors.New("must be a single value, not a list")
		}
		words := make([]string, len(v))
		for i, element := range v {
			if words[i], ok = element.(string); !ok {
				return fmt.Errorf("must be a list of strings: element %d is not a string", i+1)
			}
		}
		f.Changed = true
		return list.Replace(words)
	case nil:
		return errors.New("has no value: omit the key to use the default")
	}
	return errors.New("must be a single value, not a mapping")
}

func setText(flags *pflag.FlagSet, f *pflag.Flag, text string) error {
	err := flags.Set(f.Name, text)
	if err == nil {
		return nil
	}
	_, notNumber := strconv.ParseFloat(text, 64)
	switch kind := f.Value.Type(); {
	case kind == "bool":
		return fmt.Errorf("%q is not a boolean: write true or false", text)
	case kind == "int" && notNumber != nil:
		return fmt.Errorf("%q is not a number", text)
	case kind == "duration" && notNumber == nil:
		return fmt.Errorf("%s has no unit: write %ss, for example", text, text)
	}
	return err
}

// kubernetesService matches the variables that Kubernetes sets in every pod for a service whose name begins with
// gatekeeper. They have the prefix but do not configure gatekeeperd.
var kubernetesService = regexp.MustCompile(
	`^GATEKEEPER_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

func (e environment) isKubernetesVariable(variable string) bool {
	return e.get("KUBERNETES_SERVICE_HOST") != "" && kubernetesService.MatchString(variable)
}
