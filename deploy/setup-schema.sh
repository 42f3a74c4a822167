#!/bin/sh
# Creates Temporal's two databases and brings their schemas up to this server's version. Safe to run at every start.
set -eu

# temporal-sql-tool has its own name for it.
SQL_PASSWORD=$(cat /run/secrets/postgres-password)
export SQL_PASSWORD

for database in temporal temporal_visibility; do
  case "$database" in
    temporal) schema=temporal ;;
    *) schema=visibility ;;
  esac
  tool() {
    temporal-sql-tool --plugin postgres12 --ep "$POSTGRES_SEEDS" -p "$DB_PORT" -u "$POSTGRES_USER" \
      --db "$database" "$@"
  }
  tool create
  tool setup-schema -v 0.0
  tool update-schema -d "/etc/temporal/schema/postgresql/v12/$schema/versioned"
done
