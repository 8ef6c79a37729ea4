import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FAILING_TAX_CODE } from '../../../src/sandbox/engine.ts';
import { HEAVY_FAULTS, checkedFaults } from '../../../src/sandbox/faults.ts';
import { DEFAULT_API_KEY } from '../../../src/sandbox/sandbox.ts';
import { DEFAULT_DELIVERING } from '../../../src/sandbox/deliverer.ts';

const text = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');

describe('docs/sandbox.md', () => {
  it('explains every fault, with its size where it has one, and no others', () => {
    const faults = checkedFaults();
    const rows = [...(text.split('## Faults')[1]?.matchAll(/^\| `(\w+)` \|/gm) ?? [])].map(([, name]) => name ?? '');
    const sizes = ['retryAfterSeconds', 'lateMs'] as const;

    expect([...rows, ...sizes].toSorted()).toEqual(Object.keys(faults).toSorted());
    for (const size of sizes) expect(text).toContain(`\`${size}\` (${faults[size]})`);
  });

  it('says truly what heavy leaves out', () => {
    const off = Object.entries(HEAVY_FAULTS).filter(([, value]) => value === 0 || value === null);

    expect(off.map(([name]) => name).toSorted()).toEqual(['merchantRefusal', 'outage', 'requestsPerSecond']);
    expect(text).toContain('it leaves out `outage`, `requestsPerSecond` and `merchantRefusal`');
  });

  it('names the default key, the failing tax code and the number of tries', () => {
    expect(text).toContain(DEFAULT_API_KEY);
    expect(text).toContain(`tax code \`${FAILING_TAX_CODE}\``);
    expect(text).toContain(`up to ${DEFAULT_DELIVERING.maxAttempts} tries`);
  });
});
