#!/bin/sh
# Creates the namespace and the search attributes by which batches are found. It may be repeated.
set -eu

namespace=${TEMPORAL_NAMESPACE:-default}

# Compose gives up when a job fails once, and a server listens before it is well, and knows a new namespace only
# some seconds after it was made.
retry() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || exit 1
    sleep 1
  done
}

retry temporal operator cluster health
temporal operator namespace describe -n "$namespace" >/dev/null 2>&1 ||
  temporal operator namespace create -n "$namespace" --retention "${TEMPORAL_RETENTION:-7d}"
retry temporal operator search-attribute create -n "$namespace" \
  --name LoteBatch --type Keyword --name LoteState --type Keyword --name LoteProblems --type Int
