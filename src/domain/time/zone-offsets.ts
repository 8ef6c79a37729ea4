/** The clock of a zone is at most so far from UTC, also where it is changed. */
const MOST_OFFSET_MS = 16 * 60 * 60 * 1000;

/** Returns when a calendar day, `2026-11-21`, begins in an IANA zone, in epoch milliseconds; null if the day does not exist. */
export function dayStart(isoDate: string, timezone: string): number | null {
  const midnight = /^\d{4}-\d\d-\d\d$/u.test(isoDate) ? Date.parse(isoDate) : Number.NaN;
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== isoDate) return null;
  const day = dayOf(timezone);
  let [before, from] = [midnight - MOST_OFFSET_MS, midnight + MOST_OFFSET_MS];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (day(middle) < isoDate) before = middle;
    else from = middle;
  }
  return from;
}

/** Returns the calendar day, `2026-11-21`, of an instant in an IANA zone. */
export function dayOf(timezone: string): (at: number) => string {
  // Swedes write dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone });
  return (at) => format.format(at);
}

/**
 * Returns the name of an IANA time zone in the spelling of the zone database, such as `Europe/Lisbon` for
 * `europe/lisbon`, because Temporal accepts no other spelling and no offset. Returns null if there is no such zone.
 */
export function zoneNamed(name: string): string | null {
  if (/^[+-]/u.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** Returns the IANA zone of this machine, from `TZ` or the system settings. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
