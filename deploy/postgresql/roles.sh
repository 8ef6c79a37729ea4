#!/bin/sh
# Creates the roles and the databases of Lote and of Temporal, neither of them a superuser, neither able to open the
# other's databases. It may be repeated: then it sets the passwords again.
# Lote owns its tables: it migrates them at a start, and only their owner may gather their statistics (VACUUM ANALYZE).
set -eu

# The shell leaves out the line end of a file, and psql quotes the rest, whatever it is.
PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
TEMPORAL_PASSWORD=$(cat "$TEMPORAL_PASSWORD_FILE")
LOTE_PASSWORD=$(cat "$LOTE_PASSWORD_FILE")
export PGPASSWORD TEMPORAL_PASSWORD LOTE_PASSWORD

case $TEMPORAL_PASSWORD in
*' '*)
  echo "$TEMPORAL_PASSWORD_FILE: the password of Temporal must hold no space, which its server writes as +" >&2
  exit 1
  ;;
esac

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres <<'SQL'
\getenv temporal_password TEMPORAL_PASSWORD
\getenv lote_password LOTE_PASSWORD
SELECT format('CREATE ROLE %I', name) FROM unnest(ARRAY['temporal', 'lote']) AS name
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec
ALTER ROLE temporal LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'temporal_password';
ALTER ROLE lote LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'lote_password';
SELECT format('CREATE DATABASE %I OWNER %I', name, owner)
FROM (VALUES ('temporal', 'temporal'), ('temporal_visibility', 'temporal'), ('lote', 'lote')) AS wanted (name, owner)
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = name) \gexec
REVOKE ALL ON DATABASE postgres, temporal, temporal_visibility, lote FROM PUBLIC;
SQL
