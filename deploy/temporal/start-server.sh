#!/bin/sh
# Starts the Temporal server, the command that is given, with the password of a file.
set -eu

# The server writes the password between double quotes of its own YAML.
POSTGRES_PWD=$(sed 's/[\\"]/\\&/g' "$POSTGRES_PWD_FILE")
export POSTGRES_PWD

exec "$@"
