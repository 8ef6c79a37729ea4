import { z } from 'zod';
import { errorAnswer, type Answer, type ErrorCode } from './http/answer.ts';

/** The fault of a request, and its place. */
export interface Problem {
  readonly code: Extract<ErrorCode, 'field_missing' | 'field_invalid' | 'field_unknown'>;
  /** Path of the field, such as `lines[0].quantity`; empty for the body itself. */
  readonly field: string;
  readonly message: string;
}

/** Returns a 422 answer that names the field. A body that is not an object is named `body`. */
export function problemAnswer({ code, field, message }: Problem): Answer {
  return errorAnswer(422, code, message, { field: field === '' ? 'body' : field });
}

/** A body of the checked type, or the first problem in it. */
export type Read<Body> = { readonly ok: true; readonly body: Body } | { readonly ok: false; readonly problem: Problem };

/** Checks a body against a schema, whose messages state the expected value. */
export function readAs<Body>(value: unknown, schema: z.ZodType<Body>): Read<Body> {
  const result = schema.safeParse(value);
  return result.success ? { ok: true, body: result.data } : { ok: false, problem: problemOf(result.error, value) };
}

function problemOf({ issues: [issue] }: z.ZodError, body: unknown): Problem {
  const path = issue?.path ?? [];
  const field = [...path, ...(issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].reduce<string>(
    (at, part) => (typeof part === 'number' ? `${at}[${part}]` : `${at}${at === '' ? '' : '.'}${String(part)}`),
    '',
  );
  if (issue?.code === 'unrecognized_keys')
    return { code: 'field_unknown', field, message: 'is not a field of this request.' };
  const found = path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown>)[part], body);
  if (found === undefined && field !== '') return { code: 'field_missing', field, message: 'is required.' };
  return { code: 'field_invalid', field, message: `expected ${issue?.message}, found ${kindOf(found)}.` };
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

// Returns the kind and not the value, because error messages end up in logs.
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
