import { DAY_MS } from '../../../domain/time/day-ms.ts';

const DATE = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2}))?$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})$/;
/** Excel has a 29 February 1900, which never was; days before it are counted from one day later. */
const LEAP_DAY = 60;

/** The number under which XLSX keeps a date or a time in ISO 8601 (day 1 is 1900-01-01); null for any other text. */
export function serialOf(text: string): string | null {
  const time = TIME.exec(text);
  if (time !== null) return plain(fraction(time.slice(1)));
  const found = DATE.exec(text);
  if (found === null) return null;
  const [, year, month, day, ...clock] = found;
  if (`${year}-${month}-${day}` === '1900-02-29') return plain(LEAP_DAY + fraction(clock));
  const days = (Date.UTC(Number(year), Number(month) - 1, Number(day)) - Date.UTC(1899, 11, 30)) / DAY_MS;
  const serial = (days > LEAP_DAY ? days : days - 1) + fraction(clock);
  return serial < 0 ? null : plain(serial);
}

function fraction([hours = '0', minutes = '0', seconds = '0']: readonly (string | undefined)[]): number {
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
}

/** Ten decimals of a day are less than a hundredth of a millisecond. */
function plain(serial: number): string {
  return String(Number(serial.toFixed(10)));
}
