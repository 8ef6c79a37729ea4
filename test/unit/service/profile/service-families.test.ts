import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';
import { ServiceProfile } from '../../../../src/service/profile/profile.ts';
import { FAMILIES } from '../../../services/families.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly enum?: readonly unknown[];
  readonly type?: string;
}

const SCHEMA = z.toJSONSchema(ServiceProfile, { io: 'input', unrepresentable: 'any' }) as Node;
/** Templates of bodies and free maps: what stands below is the user's own. */
const FREE = /\.(?:body|headers)$/;
/** Answers to the question whether a paid key may go out: no fake needs one. */
const NEVER_USED = new Set(['environment=live']);

/** Every key, and every word of a closed list of words, as `section.key` and `section.key=word`. */
function* vocabulary(node: Node, path: string): Generator<string> {
  for (const one of node.enum ?? []) yield `${path}=${String(one)}`;
  for (const one of node.anyOf ?? []) yield* vocabulary(one, path);
  if (node.items?.properties !== undefined) yield* vocabulary(node.items, path);
  for (const [key, below] of Object.entries(node.properties ?? {})) {
    const here = path === '' ? key : `${path}.${key}`;
    yield here;
    if (!FREE.test(here)) yield* vocabulary(below, here);
  }
}

/** The same, of a profile as a user writes it. */
function* usedBy(value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) yield* usedBy(item, path);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, below] of Object.entries(value)) {
      const here = path === '' ? key : `${path}.${key}`;
      yield here;
      if (!FREE.test(here)) yield* usedBy(below, here);
    }
  } else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    yield `${path}=${String(value)}`;
  }
}

describe('the profiles of the families of services', () => {
  it.each(FAMILIES.map(({ name, profile }) => [name, profile] as const))('%s can be loaded', (_name, profile) => {
    expect(() => loadProfile(JSON.stringify(profile))).not.toThrow();
  });

  it('use together every key of the service profile, and every word where the schema lists words', () => {
    const used = new Set(FAMILIES.flatMap(({ profile }) => [...usedBy(profile, '')]));
    const known = new Set([...vocabulary(SCHEMA, '')]);

    expect(known.size, 'the schema was read').toBeGreaterThan(80);
    expect([...known].filter((one) => !used.has(one) && !NEVER_USED.has(one))).toEqual([]);
  });
});
