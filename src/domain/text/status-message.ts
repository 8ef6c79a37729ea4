const BEGINS = /^HTTP \d+(?::|$)/;

/** The message of a reason that is an answer of the service: its status, then what it said, if anything. */
export function statusMessage(status: number, said: string): string {
  return said === '' ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
}

/** True for a message that `statusMessage` made. */
export function isStatusMessage(message: string): boolean {
  return BEGINS.test(message);
}
