import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HOPS } from '../../../docs/picture/boxes.ts';
import { dataFlow } from '../../../docs/picture/data-flow.ts';
import { TRANSITIONS } from '../../../docs/picture/state-graph.ts';
import { INVOICE_STATES } from '../../../src/domain/invoice-state.ts';
import { README } from '../../support/lote/readme.ts';

const WORKFLOWS = new URL('../../../workflows/', import.meta.url);
const workflowTexts = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(new URL(name, WORKFLOWS), 'utf8'))
  .join('\n');

describe('docs/picture/data-flow.svg', () => {
  it('is what `npm run picture` draws from the code of now', async () => {
    await expect(dataFlow()).toMatchFileSnapshot('../../../docs/picture/data-flow.svg');
  });

  it('shows each state and each move of the ledger', () => {
    const picture = dataFlow();

    for (const state of INVOICE_STATES) expect(picture).toContain(`>${state}</text>`);
    for (const move of Object.keys(TRANSITIONS)) expect(picture).toMatch(new RegExp(`>(?:[a-z, ]+)?${move}\\b`, 'u'));
  });

  it('names activities that the workflows really take', () => {
    for (const name of HOPS.flatMap(({ activities }) => activities))
      expect(workflowTexts.includes(`await ${name}(`) || workflowTexts.includes(`= ${name}(`), name).toBe(true);
  });

  it('is the picture that README.md shows', () => {
    expect(README).toMatch(/!\[[^\]]{20,}\]\(docs\/picture\/data-flow\.svg\)/u);
  });
});
