#!/bin/sh
# Creates the certificates for compose.yaml in a directory. Its subdirectory authorities contains all of them, gk1 to gk3 each contain those of one
# server, and admin contains the first administrator's. Existing files are kept. To renew a server's certificates, remove its files. HOSTS lists
# additional names of the servers.
set -e
umask 077
PATH=$PATH:/src/bin
cd "$1"
mkdir -p authorities admin gk1 gk2 gk3
[ -e authorities/client-admin.key ] || gkctl cert init --dir authorities --force
for id in gk1 gk2 gk3; do
	[ ! -e $id/peer.key ] || continue
	gkctl cert server $id $HOSTS --dir authorities --force
	gkctl cert peer $id $id $HOSTS --dir authorities --force
	cp authorities/ca.crt authorities/peer-ca.crt $id
	for end in crt key; do
		cp authorities/server-$id.$end $id/server.$end
		cp authorities/peer-$id.$end $id/peer.$end
	done
done
cp authorities/ca.crt authorities/client-admin.crt authorities/client-admin.key admin
# The image runs as user 65532. Only root can change the owner. Any other user is already the right user, or runs this script outside a container.
[ "$(id -u)" != 0 ] || chown -R 65532:65532 admin gk1 gk2 gk3
