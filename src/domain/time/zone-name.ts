/**
 * The name of an IANA time zone as the database of zones spells it, such as `Europe/Lisbon` for `europe/lisbon`: Temporal
 * takes no other spelling, and no offset. Null: there is no zone of this name.
 */
export function zoneNamed(name: string): string | null {
  if (/^[+-]/u.test(name)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
