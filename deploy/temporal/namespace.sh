#!/bin/sh
# Creates the namespace and the search attributes by which batches are found. It may be repeated.
set -eu

namespace=${TEMPORAL_NAMESPACE:-default}

# A server listens before it is well, and Compose gives up when a job fails once.
tries=0
until temporal operator cluster health; do
  tries=$((tries + 1))
  [ "$tries" -lt 120 ] || exit 1
  sleep 1
done
temporal operator namespace describe -n "$namespace" >/dev/null 2>&1 ||
  temporal operator namespace create -n "$namespace" --retention "${TEMPORAL_RETENTION:-7d}"
temporal operator search-attribute create -n "$namespace" \
  --name LoteBatch --type Keyword --name LoteState --type Keyword --name LoteProblems --type Int
