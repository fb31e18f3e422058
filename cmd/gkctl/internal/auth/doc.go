// Package auth implements the access commands: gkctl auth whoami, can-i, roles, list, bind and unbind, and gkctl auth
// token create, list and revoke. The servers make the access decisions. These commands show and change the bindings
// behind those decisions.
package auth
