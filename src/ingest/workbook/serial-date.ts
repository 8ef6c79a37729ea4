const DAY = 86_400;

/**
 * The date that a spreadsheet's day number stands for, in ISO 8601, with the time where it has one. Day 1 is 1900-01-01, and day 60 a
 * 29 February 1900 that never was; or day 0 is 1904-01-01. Null for what is no date.
 */
export function serialDate(serial: number, epoch: 1900 | 1904): string | null {
  const days = Math.floor(serial);
  if (!(serial >= 0) || days > 2_958_465) return null;
  const seconds = Math.round((serial - days) * DAY);
  const time = new Date(Math.min(seconds, DAY - 1) * 1000).toISOString().slice(11, 19);
  if (days === 0 && seconds > 0 && epoch === 1900) return time;
  if (epoch === 1900 && days === 60) return '1900-02-29';
  const first = epoch === 1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const date = new Date(first + days * DAY * 1000).toISOString().slice(0, 10);
  return seconds === 0 ? date : `${date}T${time}`;
}
