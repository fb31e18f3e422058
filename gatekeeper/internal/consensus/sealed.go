package consensus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// checksumKey is what a folder's JSON objects have in addition: the start of a SHA-256 over the rest. No member has
// such an id. Earlier versions write files without it, and ignore it.
const checksumKey = "#checksum"

// seal returns the JSON object of v with its checksum. Without one, a digit that the disk changed would pass for the
// number, and the server would state a folder or a cluster that no member knows.
func seal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	if fields[checksumKey], err = checksum(fields); err != nil {
		return nil, err
	}
	return json.MarshalIndent(fields, "", "  ")
}

// unseal reads what seal wrote into v.
func unseal(data []byte, v any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if stated, ok := fields[checksumKey]; ok {
		delete(fields, checksumKey)
		if sum, err := checksum(fields); err != nil || string(sum) != string(stated) {
			return errors.New("its checksum is wrong")
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func checksum(fields map[string]json.RawMessage) (json.RawMessage, error) {
	data, err := json.Marshal(fields) // in the order of the keys
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return json.Marshal(hex.EncodeToString(sum[:8]))
}
