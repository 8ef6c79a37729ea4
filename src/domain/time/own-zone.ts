/** The IANA zone of this machine, as its `TZ` or its settings say. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
