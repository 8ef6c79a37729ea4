import type { ProfileMisfitLedger } from '../../domain/ports/ledger/profile-misfit-ledger.ts';
import { misfitMessage, type NotedMisfit } from '../../domain/profile-misfit.ts';
import { column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';

/** There are fewer codes than that: this holds the size, whatever a later version calls its findings. */
const MOST_CODES = 16;
const FORGOTTEN_AFTER_MS = 30 * 24 * 60 * 60 * 1_000;

/** digest, codes, messages, times, at, most codes. Items have different codes, in order, so that two writers do not lock each other. */
const NOTE_MISFITS = `/* note-misfits */
INSERT INTO profile_misfit AS m (profile_digest, code, message, times, first_at, last_at)
SELECT $1, item.code, item.message, item.times, item.at, item.at
FROM (
  SELECT i.*, row_number() OVER (PARTITION BY known.code IS NULL ORDER BY i.code) AS nth, known.code IS NULL AS is_new
  FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS i (code, message, times, at)
  LEFT JOIN profile_misfit known ON known.profile_digest = $1 AND known.code = i.code
) item
WHERE NOT item.is_new
  OR item.nth + (SELECT count(*) FROM profile_misfit WHERE profile_digest = $1) <= $6::integer
ORDER BY item.code
ON CONFLICT (profile_digest, code) DO UPDATE SET message = excluded.message, times = m.times + excluded.times,
  first_at = least(m.first_at, excluded.first_at), last_at = greatest(m.last_at, excluded.last_at)`;

/** Epoch milliseconds. */
const FORGET_MISFITS = `/* forget-misfits */
DELETE FROM profile_misfit WHERE last_at < $1`;

/** digest, code. */
const CLEAR_MISFIT = `/* clear-misfit */
DELETE FROM profile_misfit WHERE profile_digest = $1 AND code = $2`;

interface MisfitRow {
  readonly code: string;
  readonly message: string;
  readonly times: number;
  readonly first_at: number;
  readonly last_at: number;
}

/** digest. */
const FIND_MISFITS = `/* find-misfits */
SELECT code, message, times, first_at, last_at FROM profile_misfit WHERE profile_digest = $1 ORDER BY last_at DESC, code`;

/** What was found where the service profile does not fit, of all processes of the ledger together. */
export function createProfileMisfits(database: Database): ProfileMisfitLedger {
  return {
    async noteMisfits(profileDigest, items) {
      const merged = byCode(items);
      if (merged.length === 0) return;
      await database.query(NOTE_MISFITS, [
        profileDigest,
        column(merged, ({ code }) => code),
        column(merged, ({ message }) => misfitMessage(message)),
        column(merged, ({ times }) => times),
        column(merged, ({ at }) => at),
        MOST_CODES,
      ]);
      await database.query(FORGET_MISFITS, [Math.max(...merged.map(({ at }) => at)) - FORGOTTEN_AFTER_MS]);
    },

    async clearMisfit(profileDigest, code) {
      await database.query(CLEAR_MISFIT, [profileDigest, code]);
    },

    async misfits(profileDigest) {
      const rows = await database.query<MisfitRow>(FIND_MISFITS, [profileDigest]);
      return rows.map(({ first_at: firstAt, last_at: lastAt, ...row }) => ({ ...row, firstAt, lastAt }));
    },
  };
}

/** One for each code: the last message, all times. */
function byCode(items: readonly NotedMisfit[]): readonly NotedMisfit[] {
  const merged = new Map<string, NotedMisfit>();
  for (const item of items) {
    const known = merged.get(item.code);
    merged.set(item.code, { ...item, times: item.times + (known?.times ?? 0) });
  }
  return [...merged.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
