#!/bin/sh
# Creates the namespace and the search attributes by which batches are found. It may be repeated.
set -eu

namespace=${TEMPORAL_NAMESPACE:-default}

temporal operator cluster health
temporal operator namespace describe -n "$namespace" >/dev/null 2>&1 ||
  temporal operator namespace create -n "$namespace" --retention "${TEMPORAL_RETENTION:-7d}"
temporal operator search-attribute create -n "$namespace" \
  --name LoteBatch --type Keyword --name LoteState --type Keyword --name LoteProblems --type Int
