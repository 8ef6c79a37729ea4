/** Control and format characters and halves of surrogate pairs break terminals, and PostgreSQL refuses NUL in text. */
const UNPRINTABLE = /[\s\p{C}\p{Zl}\p{Zp}]+/gu;

/** Returns a text as one printable line of at most so many characters. */
export function oneLine(text: string, most: number): string {
  return cut(
    text
      .slice(0, most * 10)
      .replace(UNPRINTABLE, ' ')
      .trim(),
    most,
  );
}

/** Returns the beginning of a text in at most so many characters. */
export function cut(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
