import { DAY_MS } from './day-ms.ts';
import { zoneOffsets } from './zone-offsets.ts';

/** A day on which a time of the clock does not exist, or exists twice, because the clock is changed. */
export interface ClockChange {
  /** `2027-03-28` */
  readonly date: string;
  readonly kind: 'skipped' | 'twice';
}

/** Days from `from` on, at most `days` of them, on which `hour:minute` of a zone's clock comes not at all or twice. */
export function clockChanges(
  { hour, minute, timezone }: { readonly hour: number; readonly minute: number; readonly timezone: string },
  from: number,
  days: number,
): readonly ClockChange[] {
  const offsetAt = zoneOffsets(timezone);
  const changes: ClockChange[] = [];
  const firstDay = Math.floor(from / DAY_MS) * DAY_MS;
  for (let day = firstDay; day < firstDay + days * DAY_MS; day += DAY_MS) {
    const wanted = day + (hour * 60 + minute) * 60_000;
    // The clock is changed at most once within a day: one of the offsets around it is the right one.
    const offsets = new Set([offsetAt(wanted - DAY_MS), offsetAt(wanted + DAY_MS)]);
    const instants = [...offsets].map((offset) => wanted - offset).filter((at) => at + offsetAt(at) === wanted);
    const date = new Date(day).toISOString().slice(0, 10);
    if (instants.length === 0) changes.push({ date, kind: 'skipped' });
    if (instants.length === 2) changes.push({ date, kind: 'twice' });
  }
  return changes;
}
