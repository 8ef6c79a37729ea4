import { LoteError } from '../../domain/errors.ts';
import { zoneNamed } from '../../domain/time/zone-name.ts';
import type { NightlyTime } from '../../wiring/schedules/nightly-schedule.ts';

/** The time of a night, with its zone as Temporal spells it. @throws LoteError `usage` */
export function nightlyTime(at: string, timezone: string): NightlyTime {
  const found = /^(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)$/u.exec(at);
  if (found === null)
    throw new LoteError(
      'usage',
      `Switching nights on: --at must be a time such as 02:00, found ${JSON.stringify(at)}.`,
    );
  const zone = zoneNamed(timezone);
  if (zone === null)
    throw new LoteError(
      'usage',
      `Switching nights on: --timezone must be an IANA name such as Europe/Lisbon or Europe/Madrid, found ${JSON.stringify(timezone)}.`,
    );
  return { hour: Number(found.groups?.['hour']), minute: Number(found.groups?.['minute']), timezone: zone };
}
