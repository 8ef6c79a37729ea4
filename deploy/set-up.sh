#!/bin/sh
# Prepares this folder for `docker compose up`: folders, secrets, and whose account the containers of Lote use.
# It may be repeated: whatever is there stays as it is.
set -eu

cd "${1:-$(dirname "$0")/..}"

# Only this account enters the folder of the secrets. The files themselves must be readable by the accounts of the
# containers, which have other ids.
umask 022
mkdir -p input reports profiles secrets
chmod 0700 secrets
# Other accounts run them, whatever the checkout's mode.
[ ! -d deploy ] || chmod -R a+rX deploy

random() {
  head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

secret() {
  [ -e "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"
}

secret postgres-password "$(random)"
secret temporal-database-password "$(random)"
secret lote-database-password "$(random)"
secret console-token "$(random)"
# A test key, which the sandbox takes. The key of a real service replaces it.
secret invoicing-api-key "sk_test_$(random)"
# Empty: the service gives the secret when Lote registers its webhook address.
[ -e secrets/webhook-secret ] || : >secrets/webhook-secret

# Reports then belong to whoever started Lote. Root is not passed on: Lote needs no rights of root.
user_id=$(id -u)
group_id=$(id -g)
if [ "$user_id" = 0 ]; then user_id=1000 group_id=1000; fi
[ -e .env ] || : >.env
grep -q '^LOTE_USER_ID=' .env || printf 'LOTE_USER_ID=%s\nLOTE_GROUP_ID=%s\n' "$user_id" "$group_id" >>.env

# The zone of this machine, in which nights begin and times are shown: a container does not know it.
zone=$(cat /etc/timezone 2>/dev/null || readlink /etc/localtime 2>/dev/null | sed 's|.*zoneinfo/||') || zone=
case $zone in
'' | *[!A-Za-z0-9_+/-]*) zone=UTC ;;
esac
grep -q '^TZ=' .env || printf 'TZ=%s\n' "$zone" >>.env
