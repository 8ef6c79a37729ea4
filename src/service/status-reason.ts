import type { Reason } from '../domain/invoice.ts';
import { statusMessage } from '../domain/status-message.ts';
import { reasonCode } from '../service-profile/reason-code.ts';

/** Long enough for a sentence, short enough for a report's cell. */
const MAX_MESSAGE = 200;
/** Control and invisible format characters and halves of surrogate pairs: they break terminals, and PostgreSQL refuses NUL in text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** One printable line of at most 200 characters. */
export function reasonText(text: string): string {
  const line = text
    .slice(0, MAX_MESSAGE * 10)
    .replace(UNPRINTABLE, ' ')
    .trim();
  const characters = Array.from(line);
  return characters.length <= MAX_MESSAGE ? line : `${characters.slice(0, MAX_MESSAGE - 1).join('')}…`;
}

/** Reason of a status: the service's own code and message when it gave usable ones. */
export function statusReason(status: number, said: { readonly code: unknown; readonly message: unknown }): Reason {
  const message = typeof said.message === 'string' ? reasonText(said.message) : '';
  return {
    code: reasonCode(said.code) ?? `http-${status}`,
    message: reasonText(statusMessage(status, message)),
  };
}
