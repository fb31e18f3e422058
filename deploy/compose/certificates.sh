#!/bin/sh
# Makes the certificates of compose.yaml in a folder, once: its folder authorities has all of them, gk1 to gk3 have those of one server each, and
# admin has that of the first administrator. What is there already stays. Remove the files of a server to renew them; HOSTS are further names of servers.
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
# The user of the image. A user other than root is that one, or tries this without containers.
[ "$(id -u)" != 0 ] || chown -R 65532:65532 admin gk1 gk2 gk3
