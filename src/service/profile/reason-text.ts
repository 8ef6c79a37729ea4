import { oneLine } from '../../domain/text/one-line.ts';

/** This length is enough for a sentence and short enough for a report's cell. */
const MAX_MESSAGE = 200;

/** Returns a text as one printable line of at most 200 characters. */
export function reasonText(text: string): string {
  return oneLine(text, MAX_MESSAGE);
}

/** A longer number may be the tax number of a person. */
const NUMBERED = /^\d{1,6}$/;
const CODE = /^[a-z][a-z0-9_.:-]{0,63}$/i;

/** Codes of Lote's own reasons, on which decisions depend: a code of the service must not look like one of them. */
const OWN =
  /^(?:answer-.*|answers-unreadable|earlier-key-unclear|http-.*|key-known-with-other-bytes|profile-contradiction|redirect|refused-after-lost-answer|service-ids?-(?:taken|repeated)|stored-error)$/;

/** Returns a code of the service in kebab-case; null if the value is no code, for example a sentence or tax number. */
export function reasonCode(code: unknown): string | null {
  if (typeof code !== 'string') return null;
  if (NUMBERED.test(code)) return `code-${code}`;
  if (!CODE.test(code)) return null;
  const kebab = code
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[_.:-]+/g, '-')
    .replace(/^-|-$/g, '');
  const lower = kebab.toLowerCase();
  return OWN.test(lower) ? `service-${lower}` : lower;
}
