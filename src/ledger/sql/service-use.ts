const CLOCK = 'extract(epoch FROM clock_timestamp())::double precision * 1000';

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

export interface PaceRow {
  readonly wait_ms: number;
  readonly gap_ms: number;
}

/** A rate that was halved is whole again after a minute. A statement that queued for the row began before its last change: no time has passed. */
const RECOVERED = 'least(1, p.factor + greatest(0, excluded.factor_at - p.factor_at) / 60000.0)';

/** baseUrl, requests, requests per second. One row, one statement: of two workers each gets places of its own. */
export const LEASE_PACE = `/* lease-pace */
INSERT INTO request_pace AS p (base_url, next_at, factor, factor_at, slowed_at)
SELECT $1, clock.at + $2::integer * 1000 / $3::double precision, 1, clock.at, 0 FROM (SELECT ${CLOCK} AS at) clock
ON CONFLICT (base_url) DO UPDATE SET
  factor = ${RECOVERED},
  factor_at = excluded.factor_at,
  next_at = greatest(p.next_at, excluded.factor_at) + $2::integer * 1000 / ($3::double precision * ${RECOVERED})
RETURNING 1000 / ($3::double precision * factor) AS gap_ms,
  greatest(0, next_at - $2::integer * 1000 / ($3::double precision * factor) - factor_at) AS wait_ms`;

/** baseUrl. Many requests in flight hear of one and the same trouble: it counts once a second. */
export const SLOW_DOWN = `/* slow-down */
UPDATE request_pace SET factor = greatest(0.05, factor / 2), factor_at = ${CLOCK}, slowed_at = ${CLOCK}
WHERE base_url = $1 AND slowed_at < ${CLOCK} - 1000`;

/** baseUrl: one process at a time counts and takes. */
export const LOCK_SLOTS = `/* lock-slots */
SELECT pg_advisory_xact_lock(hashtext($1))`;

/** baseUrl. */
export const FORGET_EXPIRED_SLOTS = `/* forget-expired-slots */
DELETE FROM request_slots WHERE base_url = $1 AND expires_at < ${CLOCK}`;

/** baseUrl, holder, max, time to live. A fair share, as far as the others have given theirs back by now. */
export const LEASE_SLOTS = `/* lease-slots */
INSERT INTO request_slots (base_url, holder, slots, expires_at)
SELECT $1, $2,
  greatest(0, least(
    ceil($3::integer::numeric / (1 + count(*))),
    $3::integer - coalesce(sum(slots), 0)
  ))::integer,
  ${CLOCK} + $4::integer
FROM request_slots WHERE base_url = $1 AND holder <> $2
ON CONFLICT (base_url, holder) DO UPDATE SET slots = excluded.slots, expires_at = excluded.expires_at
RETURNING slots`;

/** baseUrl, holder. */
export const RELEASE_SLOTS = `/* release-slots */
DELETE FROM request_slots WHERE base_url = $1 AND holder = $2`;
