/**
 * Code of the reason for which nothing is sent, settled or believed: the words of the service profile contradict each
 * other. No probe ends it, but only the start of a process with another profile, or with one that an operator has confirmed.
 */
export const PROFILE_CONTRADICTION = 'profile-contradiction';

/** Code of the reason for which nothing is sent: the service profile finds one id in the answers to several invoices. */
export const SERVICE_IDS_REPEATED = 'service-ids-repeated';

/** The next probe of a service in trouble is never further away, in milliseconds. */
export const LONGEST_PROBE_MS = 60_000;

/** No probe ends these: it could only create one more invoice. */
export const WITHOUT_PROBE: ReadonlySet<string> = new Set([PROFILE_CONTRADICTION, SERVICE_IDS_REPEATED]);
