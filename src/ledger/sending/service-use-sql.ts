import { isAheadSql } from '../database/ahead-sql.ts';
import { CLOCK } from '../database/clock.ts';

/** application, baseUrl, key fingerprint, now. Not when another application of the ledger has that very account. */
export const REMEMBER_ACCOUNT = `/* remember-account */
INSERT INTO service_account (application, base_url, key_fingerprint, confirmed_at)
SELECT $1, $2, $3, $4::bigint
WHERE NOT EXISTS (SELECT 1 FROM service_account WHERE base_url = $2 AND key_fingerprint = $3)
ON CONFLICT (application) DO NOTHING`;

/** application. */
export const FIND_ACCOUNT = `/* find-account */
SELECT application, base_url, key_fingerprint FROM service_account WHERE application = $1`;

/** application, baseUrl, key fingerprint: the application's account, else the other application that has this one. */
export const FIND_USED_ACCOUNT = `/* find-used-account */
SELECT application, base_url, key_fingerprint FROM service_account
WHERE application = $1 OR (base_url = $2 AND key_fingerprint = $3)
ORDER BY application = $1 DESC, application
LIMIT 1`;

/** application, baseUrl, key fingerprint, now. */
export const CONFIRM_ACCOUNT = `/* confirm-account */
INSERT INTO service_account (application, base_url, key_fingerprint, confirmed_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (application) DO UPDATE SET base_url = excluded.base_url, key_fingerprint = excluded.key_fingerprint,
  confirmed_at = excluded.confirmed_at`;

/** application. Another service, or another of its accounts, has other ids for the same merchants. */
export const FORGET_MERCHANTS = `/* forget-merchants */
DELETE FROM merchant WHERE application = $1`;

/** Row of the shared rate limiter of one base address. Times are epoch milliseconds, rates are requests a second. */
export interface RateRow {
  readonly next_at: number;
  readonly slowed_to: number | null;
  readonly slowed_from: number;
  readonly slowed_at: number;
  readonly held_until: number;
  /** The database's clock, after the row was locked: a caller that queued for it sees the time that has passed. */
  readonly now: number;
}

const RATE_COLUMNS = `next_at, slowed_to, slowed_from, slowed_at, held_until, ${CLOCK} AS now`;

/** baseUrl. Makes the row when there is none, and locks it: each of two workers gets permits of its own. */
export const LOCK_RATE = `/* lock-rate */
INSERT INTO request_pace (base_url, next_at, slowed_at) VALUES ($1, 0, 0)
ON CONFLICT (base_url) DO UPDATE SET base_url = excluded.base_url
RETURNING ${RATE_COLUMNS}`;

/** baseUrl, when the next permit is free, throttled to, from, at. */
export const WRITE_RATE = `/* write-rate */
UPDATE request_pace SET next_at = $2, slowed_to = $3, slowed_from = $4, slowed_at = $5 WHERE base_url = $1`;

/** baseUrl. */
export const READ_RATE = `/* read-rate */
SELECT ${RATE_COLUMNS} FROM request_pace WHERE base_url = $1`;

/** baseUrl, milliseconds from now, longest hold. One that seems to be longer was noted by a clock that has been set back. */
export const HOLD_REQUESTS = `/* hold-requests */
INSERT INTO request_pace AS p (base_url, next_at, slowed_at, held_until) VALUES ($1, 0, 0, ${CLOCK} + $2::double precision)
ON CONFLICT (base_url) DO UPDATE SET held_until =
  greatest(CASE WHEN ${isAheadSql('p.held_until', `${CLOCK} + $3::double precision`)} THEN 0 ELSE p.held_until END, excluded.held_until)`;

/** baseUrl. Processes that send: each sees its own part of what the service takes. */
export const COUNT_SENDERS = `/* count-senders */
SELECT count(*)::integer AS senders FROM request_slots WHERE base_url = $1 AND slots > 0 AND expires_at >= ${CLOCK}`;

/** baseUrl: one process at a time counts and takes. */
export const LOCK_SLOTS = `/* lock-slots */
SELECT pg_advisory_xact_lock(hashtext($1))`;

/** baseUrl. */
export const FORGET_EXPIRED_SLOTS = `/* forget-expired-slots */
DELETE FROM request_slots WHERE base_url = $1 AND expires_at < ${CLOCK}`;

/**
 * baseUrl, holder, max, time to live, held. A fair share, as far as the other holders have given back theirs. What the holder may still use
 * beyond it stays written down until it says less.
 */
export const LEASE_SLOTS = `/* lease-slots */
WITH share AS (
  SELECT greatest(0, least(
    ceil($3::integer::numeric / (1 + count(*))),
    $3::integer - coalesce(sum(slots), 0)
  ))::integer AS slots
  FROM request_slots WHERE base_url = $1 AND holder <> $2
), written AS (
  INSERT INTO request_slots (base_url, holder, slots, expires_at)
  SELECT $1, $2, greatest(slots, $5::integer), ${CLOCK} + $4::integer FROM share
  ON CONFLICT (base_url, holder) DO UPDATE SET slots = excluded.slots, expires_at = excluded.expires_at
)
SELECT slots FROM share`;

/** baseUrl, holder. */
export const RELEASE_SLOTS = `/* release-slots */
DELETE FROM request_slots WHERE base_url = $1 AND holder = $2`;
