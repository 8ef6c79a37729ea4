import { isPlainObject } from '../../domain/plain-object.ts';
import { checkProfile } from '../check-profile.ts';
import { pathText, type ProfilePath } from '../check/profile-mistake.ts';
import { DEFAULT_PROFILE } from '../default-profile.ts';
import { isFinding, missing, type Finding, type Missing, type Recognised } from './finding.ts';
import { oneLine } from './shown.ts';

/** A profile that can be used as it is, and what was left out of it because it did not fit together. */
export interface Proposal {
  /** JSON with comments. */
  readonly text: string;
  readonly recognised: Recognised;
}

interface Line {
  readonly path: ProfilePath;
  readonly value: unknown;
  readonly comment: string;
  /** It stands in a comment until a person confirms it. */
  readonly unconfirmed?: true;
}

const ROUNDS = 10;
const CERTAINTY = {
  seen: '',
  guessed: 'guessed, ',
  unconfirmed: 'take this line out of the comment if it is right: ',
} as const;

/**
 * A profile out of what a file says and what was recognised, with the evidence of each line beside it. What was seen
 * replaces what the file says, what was guessed does not. It passes the check of a profile.
 */
export function proposalOf(base: Readonly<Record<string, unknown>>, recognised: Recognised): Proposal {
  let used = recognised;
  for (let round = 0; round < ROUNDS; round += 1) {
    const text = proposalText(base, used);
    const [mistake] = checkProfile(text).mistakes;
    if (mistake === undefined) return { text, recognised: used };
    const found = pathText(mistake.path);
    const culprit = used.find((one) => isFinding(one) && (found === one.key || found.startsWith(`${one.key}.`)));
    const same = culprit ?? used.find((one) => isFinding(one) && one.key.startsWith(`${String(mistake.path[0])}.`));
    if (same === undefined) break;
    used = used.map((one) => (one === same ? missing(one.key, `what was seen does not fit: ${mistake.message}`) : one));
  }
  return { text: proposalText(base, used), recognised: used };
}

function proposalText(base: Readonly<Record<string, unknown>>, recognised: Recognised): string {
  const findings = recognised.filter(isFinding);
  const lines = linesOf(base, findings);
  const missed = recognised.filter((one): one is Missing => !isFinding(one));
  const sections = Object.keys(DEFAULT_PROFILE).flatMap((section) => {
    const own = lines.filter(({ path }) => path[0] === section);
    const open = missed.filter(({ key }) => key.split('.')[0] === section);
    return own.length + open.length === 0 ? [] : [sectionText(section, own, open)];
  });
  return `{\n${sections.join('\n')}\n}\n`;
}

function linesOf(base: Readonly<Record<string, unknown>>, findings: readonly Finding[]): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const line of baseLines(base, DEFAULT_PROFILE, [])) lines.set(pathText(line.path), line);
  for (const { key, value, evidence, certainty } of findings) {
    const before = lines.get(key);
    if (before !== undefined && certainty !== 'seen') continue;
    const differs = before !== undefined && JSON.stringify(before.value) !== JSON.stringify(value);
    const isRules = key === 'answers.rules' && before !== undefined;
    const comment = `${CERTAINTY[certainty]}${evidence}`;
    lines.set(key, {
      path: key.split('.'),
      value: isRules ? withRules(value, before.value) : value,
      comment: differs && !isRules ? `${comment}; the file said ${JSON.stringify(before.value)}` : comment,
      ...(certainty === 'unconfirmed' && { unconfirmed: true }),
    });
  }
  return [...lines.values()];
}

/** Rules that were seen stand before those of the file. */
function withRules(found: unknown, before: unknown): unknown {
  const known = new Set([before].flat().map((rule) => JSON.stringify(rule)));
  return [...[found].flat().filter((rule) => !known.has(JSON.stringify(rule))), ...[before].flat()];
}

/** What the file says, down to the settings. */
function baseLines(value: unknown, byDefault: unknown, path: ProfilePath): readonly Line[] {
  if (isPlainObject(value) && isPlainObject(byDefault) && Object.keys(byDefault).length > 0)
    return Object.entries(value).flatMap(([key, one]) => baseLines(one, byDefault[key], [...path, key]));
  return [{ path, value, comment: 'from the file' }];
}

function sectionText(section: string, lines: readonly Line[], open: readonly Missing[]): string {
  const [only] = lines;
  if (only !== undefined && only.path.length === 1)
    return [comment(only.comment, 1), `  ${JSON.stringify(section)}: ${JSON.stringify(only.value)},`].join('\n');
  const inside = membersText(lines, 1, 2);
  const notFound = open.map(({ key, reason }) => comment(`not recognised: ${key}: ${reason}`, 2));
  return [`  ${JSON.stringify(section)}: {`, ...inside, ...notFound, '  },'].join('\n');
}

/** Members at one depth of the profile; deeper ones together in an object of their own. */
function membersText(lines: readonly Line[], depth: number, indent: number): readonly string[] {
  const keys = [...new Set(lines.map(({ path }) => String(path[depth])))];
  const space = '  '.repeat(indent);
  return keys.flatMap((key) => {
    const own = lines.filter(({ path }) => String(path[depth]) === key);
    const [line] = own;
    if (line !== undefined && line.path.length === depth + 1) {
      const out = line.unconfirmed === true ? '// ' : '';
      return [comment(line.comment, indent), `${space}${out}${JSON.stringify(key)}: ${JSON.stringify(line.value)},`];
    }
    return [`${space}${JSON.stringify(key)}: {`, ...membersText(own, depth + 1, indent + 1), `${space}},`];
  });
}

function comment(text: string, indent: number): string {
  return `${'  '.repeat(indent)}// ${oneLine(text)}`;
}
