//go:build planted

package planted

import (
	"os"
	"slices"
	"strings"
)

// Variable names the bugs that are planted, separated by commas. It does not begin with GATEKEEPER_: gatekeeperd refuses to start with a
// variable of that kind that it does not know.
const Variable = "PLANTED_BUGS"

// Is says whether a bug is planted.
func Is(b Bug) bool { return slices.Contains(strings.Split(os.Getenv(Variable), ","), string(b)) }
