import { describe, expect, it } from 'vitest';
import { isFinding } from '../../../../src/service-profile/recognise/finding.ts';
import { recogniseRefusals } from '../../../../src/service-profile/recognise/refusals.ts';

const ID = 'inv_1';
const ENVELOPE = { success: { at: '/ok', is: ['true'] }, status: '/status' };

describe('the rule of a repeat', () => {
  it('has the status that counts: where an envelope gives it, no answer would ever fit that of HTTP', () => {
    const repeated = { status: 200, headers: {}, body: { ok: false, status: 409, existing: ID } };
    const found = recogniseRefusals({ refused: null, mismatch: null, repeated, id: ID, envelope: ENVELOPE });

    const rules = found.filter(isFinding).find(({ key }) => key === 'answers.rules');

    expect(rules?.value).toEqual([{ status: [409], has: '/existing', means: 'exists', id: '/existing' }]);
  });
});
