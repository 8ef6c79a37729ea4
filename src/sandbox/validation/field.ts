import type { ErrorCode } from '../http/answer.ts';

/** What is wrong with a request, and where. */
export interface Problem {
  readonly code: Extract<ErrorCode, 'field_missing' | 'field_invalid' | 'field_unknown'>;
  /** Path of the field, e.g. `lines[0].quantity`; empty for the body itself. */
  readonly field: string;
  readonly message: string;
}

export type Fields = Readonly<Record<string, unknown>>;

/** True for a JSON object. */
function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Checks one value; null when it is good. `at` is its path. */
export type Check = (value: unknown, at: string) => Problem | null;

/** A body of the proven type, or the first problem that was found. */
export type Read<Body> = { readonly ok: true; readonly body: Body } | { readonly ok: false; readonly problem: Problem };

/** Runs the check of a whole body; the caller pairs the check with the type that it proves. */
export function readAs<Body>(value: unknown, check: Check): Read<Body> {
  const problem = check(value, '');
  return problem === null ? { ok: true, body: value as Body } : { ok: false, problem };
}

/** An object with exactly these fields. Checked in their order, the first problem is reported. */
export function object(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
): Check {
  return (value, at) => {
    if (!isFields(value)) return invalid(at, 'an object', value);
    const prefix = at === '' ? '' : `${at}.`;
    for (const name in required) {
      const given = value[name];
      if (given === undefined) return { code: 'field_missing', field: prefix + name, message: 'is required.' };
      const problem = required[name]?.(given, prefix + name);
      if (problem) return problem;
    }
    for (const name in value) {
      if (Object.hasOwn(required, name)) continue;
      const check = Object.hasOwn(optional, name) ? optional[name] : undefined;
      if (check === undefined) {
        return { code: 'field_unknown', field: prefix + name, message: 'is not a field of this request.' };
      }
      const problem = check(value[name], prefix + name);
      if (problem) return problem;
    }
    return null;
  };
}

/** An array of `min` to `max` entries, each of which passes. */
export function list(entry: Check, { min, max }: { readonly min: number; readonly max: number }): Check {
  return (value, at) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) {
      return invalid(at, `an array of ${min} to ${max} entries`, value);
    }
    for (let index = 0; index < value.length; index += 1) {
      const problem = entry(value[index], `${at}[${index}]`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

// C0 and C1 but TAB, LF and CR: no fiscal document can show them.
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** A string with something in it. */
export function text({ max }: { readonly max: number }): Check {
  return (value, at) => {
    const good = typeof value === 'string' && value.trim() !== '' && value.length <= max && !CONTROL.test(value);
    return good ? null : invalid(at, `1 to ${max} characters, not only white space, no control characters`, value);
  };
}

/** A string that matches; `expected` says in words what that means. */
export function pattern(regex: RegExp, expected: string): Check {
  return (value, at) => (typeof value === 'string' && regex.test(value) ? null : invalid(at, expected, value));
}

/** A JSON number; a decimal in quotes is not one. */
export function number(): Check {
  return (value, at) =>
    typeof value === 'number' && Number.isFinite(value) ? null : invalid(at, 'a JSON number', value);
}

function invalid(field: string, expected: string, found: unknown): Problem {
  return { code: 'field_invalid', field, message: `expected ${expected}, found ${kindOf(found)}.` };
}

// The kind and not the value: an error message is what ends in logs.
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string') return value === '' ? 'an empty string' : `a string of ${value.length} characters`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
