package docs

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// machines simulates the machines on a page. Each machine is a directory and a loopback address.
type machines struct {
	tools   string // the directory with the fake ssh and scp
	network string // the first three octets of every address, such as 127.1.2
}

// The fake ssh and scp operate on a machine's directory. Commands run over ssh use fake tools that change nothing
// outside that directory.
const (
	sshScript = `#!/bin/sh
export ROOT="%[1]s/${1#*@}" PATH="%[1]s/there:$PATH"
shift
export HOME="$ROOT/home"
mkdir -p "$HOME" "$ROOT/usr/local/bin" "$ROOT/etc/systemd/system" "$ROOT/var/lib/gatekeeper"
cd && exec sh -c "$*"
`
	scpScript = `#!/bin/sh
set -e
for to; do :; done
machine=${to#*@}
mkdir -p "%[1]s/${machine%%%%:*}/home"
for from; do case $from in -* | "$to") ;; *) cp -r "$from" "%[1]s/${machine%%%%:*}/home/${machine#*:}" ;; esac; done
`
	// The gatekeeper user does not exist, so files belong to the user running the test.
	installScript = `#!/bin/sh
n=$#
while [ $n -gt 0 ]; do
	arg=$1 n=$((n - 1))
	shift
	case $arg in
	-o | -g) shift; n=$((n - 1)) ;;
	/*) set -- "$@" "$ROOT$arg" ;;
	*) set -- "$@" "$arg" ;;
	esac
done
exec /usr/bin/install "$@"
`
	// systemctl starts the unit's command with the page's configuration file, and prefixes paths with the machine's
	// directory.
	systemctlScript = `#!/bin/sh
set -e
case "$*" in
daemon-reload) ;;
"enable --quiet --now gatekeeperd")
	sed "s#: /etc/#: $ROOT/etc/#" "$ROOT/etc/gatekeeper/gatekeeperd.yaml" > "$ROOT/read.yaml"
	command=$(sed -n 's#^ExecStart=#'"$ROOT"'#p' "$ROOT/etc/systemd/system/gatekeeperd.service" |
		sed "s# /etc/gatekeeper/gatekeeperd.yaml# $ROOT/read.yaml#; s# /var/lib/# $ROOT/var/lib/#")
	$command > "$ROOT/journal" 2>&1 < /dev/null &
	;;
*) echo "unexpected command: systemctl $*" >&2; exit 1 ;;
esac
`
	useraddScript = "#!/bin/sh\n"
)

func startMachines(t *testing.T, dir string) *machines {
	t.Helper()
	m := &machines{tools: filepath.Join(dir, "here"), network: freeNetwork(t)}
	for name, script := range map[string]string{
		"here/ssh": fmt.Sprintf(sshScript, dir), "here/scp": fmt.Sprintf(scpScript, dir),
		"there/install": installScript, "there/systemctl": systemctlScript, "there/useradd": useraddScript,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		journals, _ := filepath.Glob(filepath.Join(dir, "*", "journal"))
		for _, file := range journals {
			if text, err := os.ReadFile(file); err == nil {
				t.Logf("%s:\n%s", file, text)
			}
		}
	})
	return m
}

// freeNetwork returns the first three octets of loopback addresses (in 127.0.0.0/8) on which Gatekeeper's ports are
// free.
func freeNetwork(t *testing.T) string {
	t.Helper()
	var err error
	for range 20 {
		network := fmt.Sprintf("127.%d.%d", 1+rand.IntN(254), rand.IntN(255))
		if err = portsFree(network); err == nil {
			return network
		}
	}
	t.Fatalf("the page needs addresses in 127.0.0.0/8 on which Gatekeeper's ports are free; on systems other than Linux, add them to the loopback interface first: %v", err)
	return ""
}

func portsFree(network string) error {
	for n := 1; n <= 4; n++ {
		for _, port := range []int{7420, 7421, 7422, 7423} {
			l, err := net.Listen("tcp", fmt.Sprintf("%s.%d:%d", network, n, port))
			if err != nil {
				return err
			}
			if err := l.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}
