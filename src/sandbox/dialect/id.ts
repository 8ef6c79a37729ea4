/** How the ids of one kind of thing are written; the books have prefixes of their own. */
export interface IdForm {
  /** An id of the books as clients see it: a number where the profile asks for no prefix. */
  readonly outer: (id: string) => string | number;
  /** An id of a client as the books have it; null: it is none. */
  readonly inner: (id: string) => string | null;
}

/** A number that JSON holds exactly. */
const NUMBER = /^[1-9]\d{0,14}$/;
const REST = /^[A-Za-z0-9]{1,64}$/;

/** The form of ids that begin with `own` in the books and with `spoken` outside. */
export function idForm(own: string, spoken: string): IdForm {
  return {
    outer(id) {
      const rest = id.slice(own.length);
      return spoken === '' && NUMBER.test(rest) ? Number(rest) : spoken + rest;
    },
    inner(id) {
      const rest = id.startsWith(spoken) ? id.slice(spoken.length) : '';
      return REST.test(rest) ? own + rest : null;
    },
  };
}

const SMALLEST = 100_000_000_000;
const SIZE = 200_000_000_000_000;

/** Fourteen digits or so of at least eight drawn bytes: enough that no two are the same in a sandbox, and few enough for a number. */
export function freshNumber(drawn: Buffer): string {
  return String(BigInt(SMALLEST) + (drawn.readBigUInt64BE() % BigInt(SIZE)));
}
