package ui

import (
	"bytes"
	"encoding/json"
	"os"
)

// ReplaceFile writes an object as JSON to temp and renames it to path, so that no reader sees a partial file.
func ReplaceFile(temp, path string, object any) error {
	b, err := IndentedJSON(object)
	if err == nil {
		err = os.WriteFile(temp, b, 0o600)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // err takes precedence
	}
	return err
}

// IndentedJSON returns an object as indented JSON.
func IndentedJSON(object any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object)
	return b.Bytes(), err
}
