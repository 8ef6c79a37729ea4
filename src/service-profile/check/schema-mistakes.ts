import type { z } from 'zod';
import { keyPaths, keysAt, profileJsonSchema } from '../json-schema.ts';
import { nearestWord } from './nearest-word.ts';
import type { ProfilePath, UnplacedMistake } from './profile-mistake.ts';
import { shownValue } from './shown-value.ts';

type Issue = z.core.$ZodIssue;

const PLACE =
  'must be a place (a JSON Pointer such as "/data/id", "header:NAME", "text" or "jsonata:EXPRESSION") or a list of places';

/** Of one section: nobody reads more, and each costs time. */
const MOST_UNKNOWN_KEYS = 1_000;

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What the schema says against a document, each as one mistake. */
export function schemaMistakes(issues: readonly Issue[], document: unknown): readonly UnplacedMistake[] {
  return issues.flatMap((issue) => mistakesOf(issue, document, []));
}

function mistakesOf(issue: Issue, document: unknown, above: ProfilePath): readonly UnplacedMistake[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue.keys, path);
  if (issue.code === 'invalid_key')
    return issue.issues.flatMap((one) => mistakesOf({ ...one, path: [] }, document, path));
  if (issue.code === 'invalid_union') {
    const meant = issue.errors.find(
      (branch) => !branch.some((one) => one.code === 'invalid_type' && one.path.length === 0),
    );
    if (meant !== undefined) return meant.flatMap((one) => mistakesOf(one, document, path));
  }
  const value = valueAt(document, path);
  return [{ path, message: withFound(mustHold(issue), value, path), suggestion: nearestValue(issue, value) }];
}

function unknownKeys(keys: readonly string[], section: ProfilePath): readonly UnplacedMistake[] {
  const schema = profileJsonSchema();
  const allowed = keysAt(schema, section).filter((one) => one !== '$schema');
  const paths = [...keyPaths(schema).keys()].map((path) => [path, path.split('.').at(-1)] as const);
  const message = `no such key; allowed here: ${allowed.join(', ')}`;
  return keys.slice(0, MOST_UNKNOWN_KEYS).map((key) => {
    const [elsewhere, another] = paths.filter(([, last]) => last === key);
    const only = another === undefined ? (elsewhere?.[0] ?? null) : null;
    return { path: [...section, key], isKey: true, message, suggestion: nearestWord(key, allowed) ?? only };
  });
}

function mustHold(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((one) => JSON.stringify(one)).join(', ')}`;
    case 'too_small':
      return bounded('at least', issue.origin, issue.minimum, issue.inclusive === false);
    case 'too_big':
      return bounded('at most', issue.origin, issue.maximum, issue.inclusive === false);
    case 'invalid_union':
      return PLACE;
    default:
      return issue.message.startsWith('must ') ? issue.message : `must be valid (${issue.message})`;
  }
}

function bounded(bound: 'at least' | 'at most', origin: string, limit: number | bigint, exclusive: boolean): string {
  if (origin === 'string') return limit === 1 ? 'must not be empty' : `must have ${bound} ${limit} characters`;
  if (origin === 'array') return `must have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  if (exclusive) return `must be ${bound === 'at least' ? 'more' : 'less'} than ${limit}`;
  return `must be ${bound} ${limit}`;
}

/** A message of a rule's own may say already what it found; of an object or a list the kind says nothing. */
function withFound(message: string, value: unknown, path: ProfilePath): string {
  if (message.includes(', found ')) return message;
  const isWhole = typeof value === 'object' && value !== null && !/must (?:be (?:a|one|true)|have)/.test(message);
  return isWhole ? message : `${message}, found ${shownValue(value, path)}`;
}

function nearestValue(issue: Issue, value: unknown): string | null {
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return null;
  return nearestWord(
    value,
    issue.values.filter((one) => typeof one === 'string'),
  );
}

function valueAt(document: unknown, path: ProfilePath): unknown {
  let here = document;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}
