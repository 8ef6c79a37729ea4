import type { Reason } from '../domain/invoice.ts';
import { statusMessage } from '../domain/text/status-message.ts';
import { reasonCode } from '../service-profile/reason-code.ts';
import { reasonText } from '../service-profile/reason-text.ts';

/** Reason of a status: the service's own code and message when it gave usable ones. */
export function statusReason(status: number, said: { readonly code: unknown; readonly message: unknown }): Reason {
  const message = typeof said.message === 'string' ? reasonText(said.message) : '';
  return {
    code: reasonCode(said.code) ?? `http-${status}`,
    message: reasonText(statusMessage(status, message)),
  };
}
