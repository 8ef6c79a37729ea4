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
