import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/output/exit-codes.ts';
import { TRANSITIONS } from '../../../docs/picture/state-graph.ts';
import { INVOICE_STATES, type InvoiceState } from '../../../src/domain/invoice-state.ts';
import { COLUMNS } from '../../../src/domain/row.ts';

import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';
import { keyPaths, profileJsonSchema } from '../../../src/service/profile/json-schema.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';
import { settingsOf } from '../../../src/service/profile/settings.ts';
import { pageText, README, tableAfter } from '../../support/lote/readme.ts';

/** Where the page says more of a key. */
const LINK_TO_DETAILS = / \(\[below\]\(#[^)]+\)\)/;
const plain = (cell = ''): string => cell.replaceAll('`', '');

describe('the exit codes of docs/operating.md', () => {
  it('lists the codes that commands end with', () => {
    const rows = tableAfter(pageText('docs/operating.md'), '## Exit codes');

    expect(Object.fromEntries(rows.map(([code, name]) => [plain(name), Number(plain(code))]))).toEqual(EXIT);
  });
});

describe('the transitions in docs/architecture.md', () => {
  it('lists the moves of an invoice, each with the states that it leads from and to', () => {
    const rows = tableAfter(pageText('docs/architecture.md'), '### Transitions');
    const statesIn = (cell = '') => INVOICE_STATES.filter((state) => cell.includes(`\`${state}\``));
    const moves = Object.entries<{ readonly from: readonly InvoiceState[]; readonly to: InvoiceState }>(TRANSITIONS);

    expect(
      Object.fromEntries(rows.map(([move = '', from, to]) => [move, { from: statesIn(from), to: statesIn(to) }])),
    ).toEqual(
      Object.fromEntries(
        moves.map(([move, { from, to }]) => [
          move,
          { from: INVOICE_STATES.filter((state) => from.includes(state)), to: [to] },
        ]),
      ),
    );
  });
});

describe('docs/service-profile.md', () => {
  const page = pageText('docs/service-profile.md');

  it('shows the default profile', () => {
    const shown = /^```json\n([^]*?)^```$/mu.exec(page)?.[1] ?? '';

    expect(JSON.parse(shown)).toEqual(DEFAULT_PROFILE);
  });

  it("explains each key once, in the schema's own words", () => {
    const rows = tableAfter(page, '## Keys').map(([name = '', meaning = '']) => [plain(name), meaning] as const);
    const keys = [...keyPaths(profileJsonSchema())].filter(([key]) => key !== '$schema');

    expect(rows.map(([key]) => key).toSorted()).toEqual(keys.map(([key]) => key).toSorted());
    expect(Object.fromEntries(rows.map(([key, meaning]) => [key, meaning.replace(LINK_TO_DETAILS, '')]))).toEqual(
      Object.fromEntries(keys.map(([key, { description }]) => [key, description])),
    );
  });

  const examples = [...(page.split('\n## Examples\n')[1] ?? '').matchAll(/^### (.+)\n[^]*?^```json\n([^]*?)^```$/gmu)];

  it('has ten examples', () => {
    expect(examples).toHaveLength(10);
  });

  it.each(examples.map(([, title, text]) => [title ?? '', text ?? ''] as const))(
    'has a valid example: %s',
    (_, text) => {
      expect(settingsOf(loadProfile(text)).some(({ differs }) => differs)).toBe(true);
    },
  );
});

describe('docs/files.md', () => {
  it('explains each column', () => {
    const named = tableAfter(pageText('docs/files.md'), '## Columns').flatMap(([names]) => plain(names).split(', '));

    expect(named.toSorted()).toEqual([...COLUMNS].toSorted());
  });
});

describe('README.md', () => {
  it('is short, and shows screenshots that load fast', () => {
    expect(README.split('\n').length).toBeLessThanOrEqual(150);
    for (const name of ['console', 'report']) {
      expect(README).toContain(`(docs/screenshots/${name}.png)`);
      expect(statSync(new URL(`../../../docs/screenshots/${name}.png`, import.meta.url)).size).toBeLessThan(300_000);
    }
  });
});
