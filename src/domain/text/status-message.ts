const BEGINS = /^HTTP \d+(?::|$)/;

/** Returns the message of a reason that comes from an answer of the service: the status, then the text of the service, if any. */
export function statusMessage(status: number, said: string): string {
  return said === '' ? `HTTP ${status}` : `HTTP ${status}: ${said}`;
}

/** True for a message that `statusMessage` made. */
export function isStatusMessage(message: string): boolean {
  return BEGINS.test(message);
}
