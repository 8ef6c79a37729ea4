import { DAY_MS } from './day-ms.ts';

/** Returns the milliseconds by which the clock of an IANA zone is ahead of UTC at an instant (epoch milliseconds). */
function zoneOffsets(timezone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (at) => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
  };
}

/** Returns when a calendar day, `2026-11-21`, begins in an IANA zone, in epoch milliseconds; null if the day does not exist. */
export function dayStart(isoDate: string, timezone: string): number | null {
  const midnight = /^\d{4}-\d\d-\d\d$/u.test(isoDate) ? Date.parse(isoDate) : Number.NaN;
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== isoDate) return null;
  const offsetAt = zoneOffsets(timezone);
  // If the clock changes at midnight, the day begins at the first of the instants that belong to it.
  const instants = [offsetAt(midnight - DAY_MS), offsetAt(midnight + DAY_MS)].map((offset) => midnight - offset);
  const fitting = instants.filter((at) => at + offsetAt(at) >= midnight);
  return Math.min(...(fitting.length === 0 ? instants : fitting));
}

/** Returns the calendar day, `2026-11-21`, of an instant in an IANA zone. */
export function dayOf(timezone: string): (at: number) => string {
  const offsetAt = zoneOffsets(timezone);
  return (at) => new Date(at + offsetAt(at)).toISOString().slice(0, 10);
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
