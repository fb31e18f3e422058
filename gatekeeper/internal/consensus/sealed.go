package consensus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// checksumKey is the key of the checksum in a data directory's JSON files. The value is a truncated SHA-256 of the
// other fields. The key is not a valid member id. Earlier versions do not write or check it.
const checksumKey = "#checksum"

// seal returns v as a JSON object with a checksum. Without the checksum, a flipped bit in an id would go unnoticed, and
// the server would identify itself by a directory or cluster id that no other member recognizes.
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

// unseal checks and parses the output of seal into v.
func unseal(data []byte, v any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if stored, ok := fields[checksumKey]; ok {
		delete(fields, checksumKey)
		if sum, err := checksum(fields); err != nil || string(sum) != string(stored) {
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
	data, err := json.Marshal(fields) // with sorted keys
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return json.Marshal(hex.EncodeToString(sum[:8]))
}
