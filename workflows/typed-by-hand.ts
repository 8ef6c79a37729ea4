import { log } from '@temporalio/workflow';

/** A value of one form, or anything else that somebody typed into the Temporal UI. */
type Is<Form> = (value: unknown) => value is Form;

/**
 * A handler of a signal that passes over inputs of another form, undefined among them: an error in a handler would fail
 * every further task of the run, for the signal stays in its history.
 */
export function onlyOf<Form>(
  signal: string,
  is: Is<Form>,
  handle: (input: Form) => void | Promise<void>,
): (input: Form) => void | Promise<void> {
  return (input: unknown) => {
    if (is(input)) return handle(input);
    log.warn('a signal with an input that is not its own is passed over', { signal });
  };
}

/** Whether a value is an object with members of this form. */
export function hasForm<Form extends object>(
  value: unknown,
  members: { readonly [Name in keyof Form]-?: (member: unknown) => boolean },
): value is Form {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.entries<(member: unknown) => boolean>(members).every(([name, is]) => is(given[name]));
}

/** Whether a value is a number such as that of a page or an invoice. */
export function isOrdinal(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Whether a value is a text. */
export function isText(value: unknown): boolean {
  return typeof value === 'string';
}

/** Who acts, as a text; undefined: nobody said so, or not as a text. */
export function actorOf(input: { readonly who?: unknown } | null | undefined): string | undefined {
  const who = input?.who;
  return typeof who === 'string' ? who : undefined;
}
