import type { Statement } from './sql-session.ts';

// Unquoted in every statement, so it must not be able to hold SQL.
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,50}$/;

/** @throws when the name is not a plain lower-case SQL identifier. */
export function checkedSchemaName(schema: string): string {
  if (SCHEMA_NAME.test(schema)) return schema;
  throw new Error(
    `Opening the sandbox's store: a schema name must be lower-case letters, digits and underscores, found ${JSON.stringify(schema)}.`,
  );
}

/** Creates what is missing; run at every start. Times are milliseconds since 1970. */
export function schemaStatements(schema: string): readonly Statement[] {
  return TABLES.map((text) => ({ text: text.replaceAll('$schema', schema), values: [] }));
}

const TABLES = [
  'create schema if not exists $schema',
  `create table if not exists $schema.merchant (
    id text primary key,
    application_id text not null,
    nif text not null,
    position integer not null,
    idempotency_key text,
    body text not null,
    body_sha256 text not null,
    created_at bigint not null,
    unique (application_id, nif)
  )`,
  `create table if not exists $schema.invoice (
    id text primary key,
    application_id text not null,
    merchant_id text not null,
    idempotency_key text,
    body text not null,
    body_sha256 text not null,
    created_at bigint not null,
    status text not null check (status in ('processing', 'issued', 'failed')),
    error_code text,
    error_message text,
    settled_at bigint,
    check ((status = 'processing') = (settled_at is null)),
    check ((status = 'failed') = (error_code is not null))
  )`,
  `create table if not exists $schema.webhook (
    id text primary key,
    application_id text not null,
    url text not null,
    events text not null,
    secret text not null,
    created_at bigint not null,
    unique (application_id, url)
  )`,
  `create table if not exists $schema.stored_error (
    application_id text not null,
    idempotency_key text not null,
    path text not null,
    body_sha256 text not null,
    created_at bigint not null,
    primary key (application_id, idempotency_key)
  )`,
  `create table if not exists $schema.delivery (
    id text primary key,
    application_id text not null,
    webhook_id text not null,
    invoice_id text not null,
    body text not null,
    forged boolean not null,
    attempts integer not null,
    next_attempt_at bigint not null
  )`,
] as const;
