/** More are forgotten, the oldest first: a capture is bounded, and so is what it remembers. */
const MOST = 5_000;
const SHORTEST = 3;
const LONGEST = 500;

/** Texts that were seen where names and tax numbers stand, to be found wherever else they are quoted. */
export interface PrivateValues {
  note(value: unknown): void;
  has(text: string): boolean;
  /** A text in pieces: what occurs in it, in any case, and what stands between. */
  split(text: string): readonly TextPiece[];
}

/** A part of a text. */
export interface TextPiece {
  readonly text: string;
  readonly isPrivate: boolean;
}

/** Makes an empty set. */
export function createPrivateValues(): PrivateValues {
  const values = new Set<string>();
  return {
    note(value) {
      if (typeof value !== 'string' && typeof value !== 'number') return;
      const text = String(value).trim().toLowerCase();
      if (text.length < SHORTEST || text.length > LONGEST) return;
      // Seen again: it is the newest.
      values.delete(text);
      values.add(text);
      const oldest = values.size > MOST ? values.values().next().value : undefined;
      if (oldest !== undefined) values.delete(oldest);
    },
    has: (text) => values.has(text.trim().toLowerCase()),
    split(text) {
      // In a few scripts the lower case has another length, so that nothing can be found by position.
      if (text.toLowerCase().length !== text.length) return [{ text, isPrivate: true }];
      let pieces: readonly TextPiece[] = [{ text, isPrivate: false }];
      for (const value of values)
        if (text.toLowerCase().includes(value))
          pieces = pieces.flatMap((piece) => (piece.isPrivate ? [piece] : splitAt(piece.text, value)));
      return pieces;
    },
  };
}

function splitAt(text: string, value: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (let at = text.toLowerCase().indexOf(value); at >= 0; at = text.toLowerCase().indexOf(value, from)) {
    if (at > from) pieces.push({ text: text.slice(from, at), isPrivate: false });
    from = at + value.length;
    pieces.push({ text: text.slice(at, from), isPrivate: true });
  }
  return from < text.length ? [...pieces, { text: text.slice(from), isPrivate: false }] : pieces;
}
