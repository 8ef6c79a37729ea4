#!/bin/sh
# Makes the folders that containers of Lote write to writable for their account. It runs as root, at each start.
#   folders.sh VOLUME… -- FOLDER…
# A volume belongs to Lote alone. A folder of the host belongs to somebody there: its owner stays, and Lote's group
# may write; what is created in it gets that group.
set -eu

: "${LOTE_USER_ID:?}" "${LOTE_GROUP_ID:?}"

while [ "$1" != -- ]; do
  chown "$LOTE_USER_ID:$LOTE_GROUP_ID" "$1"
  chmod 0750 "$1"
  shift
done
shift
for folder in "$@"; do
  [ "$(stat -c %u "$folder")" = "$LOTE_USER_ID" ] && continue
  chgrp "$LOTE_GROUP_ID" "$folder"
  chmod g+rwxs "$folder"
done
