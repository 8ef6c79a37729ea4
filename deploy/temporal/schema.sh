#!/bin/sh
# Brings the two databases of the Temporal server up to date. It may be repeated: a newer schema stays as it is.
set -eu

SQL_PASSWORD=$(cat "$SQL_PASSWORD_FILE")
export SQL_PASSWORD

temporal-sql-tool --db temporal setup-schema -v 0.0
temporal-sql-tool --db temporal update-schema --schema-name postgresql/v12/temporal
temporal-sql-tool --db temporal_visibility setup-schema -v 0.0
temporal-sql-tool --db temporal_visibility update-schema --schema-name postgresql/v12/visibility
