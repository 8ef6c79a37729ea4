import { z } from 'zod';
import { Refusal } from './http/answer.ts';

/** Checks a body against a schema, whose messages state the expected value. @throws Refusal that names the first wrong field */
export function readAs<Body>(value: unknown, schema: z.ZodType<Body>): Body {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path ?? [];
  const isUnknown = issue?.code === 'unrecognized_keys';
  // The path of the field, such as `lines[0].quantity`; empty for the body itself.
  const field = [...path, ...(isUnknown ? issue.keys.slice(0, 1) : [])].reduce<string>(
    (at, part) => (typeof part === 'number' ? `${at}[${part}]` : `${at}${at === '' ? '' : '.'}${String(part)}`),
    '',
  );
  if (isUnknown) throw new Refusal(422, 'field_unknown', 'is not a field of this request.', { field });
  const found = path.reduce<unknown>((above, part) => (above as Record<PropertyKey, unknown>)[part], value);
  if (found === undefined && field !== '') throw new Refusal(422, 'field_missing', 'is required.', { field });
  throw new Refusal(422, 'field_invalid', `expected ${issue?.message}.`, { field: field === '' ? 'body' : field });
}

/** An object with exactly these fields. */
export function object<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, 'an object');
}

/** An array of `min` to `max` entries. */
export function list<Entry extends z.ZodType>(
  entry: Entry,
  { min, max }: { readonly min: number; readonly max: number },
) {
  const expected = `an array of ${min} to ${max} entries`;
  return z.array(entry, expected).min(min, expected).max(max, expected);
}

// C0 and C1 except TAB, LF and CR, because a fiscal document cannot show them.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** A string that is not blank. */
export function text({ max }: { readonly max: number }) {
  const expected = `1 to ${max} characters, not only white space, no control characters`;
  return matching((value) => value.trim() !== '' && value.length <= max && !CONTROL.test(value), expected);
}

/** A string that satisfies `isGood`; `expected` describes the condition in words. */
export function matching(isGood: (value: string) => boolean, expected: string) {
  return z.string(expected).refine(isGood, expected);
}

/** A JSON number; a decimal in quotes is not one. */
export const number = z.number('a JSON number');
